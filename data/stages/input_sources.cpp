#include "data/stages/input_sources.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include "data/stages/hash_text.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

// The hash of a plan is that of its file (Plan::Hash).
std::string PlanHashIn(const std::string& directory) {
  std::ifstream file(directory + "/plan.json", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return text.starts_with(std::string("{") + kPlanMark) ? HashText(HashOf(text)) : "";
}

nlohmann::ordered_json EntryJson(const InputSource& source) {
  nlohmann::ordered_json json = {{"directory", source.directory}};
  if (!source.plan.empty()) json["plan"] = source.plan;
  json["files"] = source.files;
  json["bytes"] = source.bytes;
  return json;
}

}  // namespace

std::vector<InputSource> SourcesOf(const std::vector<InputFile>& files) {
  std::map<std::string, InputSource> sources;
  for (const InputFile& file : files) {
    const std::string parent = fs::path(file.path).parent_path().string();
    InputSource& source = sources[parent.empty() ? "." : parent];
    ++source.files;
    source.bytes += file.bytes;
  }
  std::vector<InputSource> list;
  for (auto& [directory, source] : sources) {
    source.directory = directory;
    source.plan = PlanHashIn(directory);
    list.push_back(std::move(source));
  }
  return list;
}

nlohmann::ordered_json SourcesJson(const std::vector<InputSource>& sources) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const size_t listed = std::min(sources.size(), kSourcesListed);
  for (size_t i = 0; i < listed; ++i) list.push_back(EntryJson(sources[i]));
  if (listed == sources.size()) return list;
  InputSource others;
  for (size_t i = listed; i < sources.size(); ++i) {
    others.files += sources[i].files;
    others.bytes += sources[i].bytes;
  }
  list.push_back(
      {{"directories", sources.size() - listed}, {"files", others.files}, {"bytes", others.bytes}});
  return list;
}

std::string WorkingDirectoryFor(const std::vector<InputFile>& files) {
  const auto is_relative = [](const InputFile& file) { return fs::path(file.path).is_relative(); };
  if (std::none_of(files.begin(), files.end(), is_relative)) return "";
  std::error_code error;
  return fs::current_path(error).string();
}

}  // namespace trainyard::data

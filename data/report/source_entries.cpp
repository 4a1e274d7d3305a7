#include "data/report/source_entries.h"

#include <cstdint>
#include <filesystem>
#include <utility>

namespace trainyard::data {

std::string AbsoluteBelow(const std::string& working_directory, const std::string& path) {
  // operator/ returns an absolute path unchanged.
  const std::filesystem::path joined = std::filesystem::path(working_directory) / path;
  std::string normal = joined.lexically_normal().string();
  if (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
}

void AddSourceEntries(const nlohmann::ordered_json& sources, const std::string& use,
                      const std::string& working_directory, std::vector<StepInput>* inputs) {
  for (const nlohmann::ordered_json& entry : sources) {
    StepInput input;
    if (entry.contains("directory")) {
      input.directory = AbsoluteBelow(working_directory, entry.at("directory"));
    } else {
      // The entry adds up the directories behind the listed ones.
      input.directory =
          std::to_string(entry.at("directories").get<int64_t>()) + " other directories";
    }
    input.use = use;
    input.plan = entry.value("plan", "");
    input.files = entry.at("files");
    input.bytes = entry.at("bytes");
    inputs->push_back(std::move(input));
  }
}

}  // namespace trainyard::data

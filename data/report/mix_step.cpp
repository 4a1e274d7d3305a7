#include "data/report/mix_step.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "data/tokens/dataset_description.h"
#include "data/tokens/output_directory.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kMixVersion = 1;

// The checksums of the train split in the form of mix.json; null if it cannot be read.
Json ChecksumsOf(const std::string& directory, StepInput* input) {
  const absl::StatusOr<DatasetDescription> description = ReadDescription(directory);
  if (!description.ok()) return nullptr;
  for (const SplitDescription& split : description->splits) {
    if (split.split != "train") continue;
    Json checksums = Json::object();
    for (const TokenFileFacts& file : split.files) {
      checksums[file.name] = file.xxh64;
      ++input->files;
      input->bytes += file.bytes;
    }
    return checksums;
  }
  return nullptr;
}

// Copies the values that the text of the report shows, with their types.
Json SourceJson(const Json& source, double weight) {
  Json json = {{"name", source.at("name").get<std::string>()},
               {"path", source.at("path").get<std::string>()},
               {"weight", weight},
               {"tokens", source.at("tokens").get<int64_t>()},
               {"documents", source.at("documents").get<int64_t>()},
               {"epochs", nullptr}};
  if (source.contains("epochs")) json["epochs"] = source.at("epochs").get<double>();
  return json;
}

void AddSource(const Json& source, StepReport* step) {
  StepInput input;
  input.directory = source.at("path");
  input.use = "blend";
  if (ChecksumsOf(input.directory, &input) != source.at("xxh64")) {
    step->problems.push_back(input.directory + " is missing or has changed since " +
                             step->directory + " was made; repeat the command that writes " +
                             step->directory);
  }
  step->inputs.push_back(std::move(input));
}

}  // namespace

bool IsMixDirectory(const std::string& directory) {
  std::error_code error;
  return fs::exists(directory + "/" + kMixFile, error);
}

absl::StatusOr<StepReport> ReadMixStep(const std::string& directory) {
  StepReport step;
  std::error_code error;
  fs::path path = fs::absolute(directory, error).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  step.directory = path.string();
  step.name = "mix";
  const std::string file_path = directory + "/" + kMixFile;
  std::ifstream file(file_path, std::ios::binary);
  // Catches the exceptions by which the JSON library reports damage, missing keys and wrong types.
  try {
    const Json json = Json::parse(file);
    if (json.at("format") != "trainyard-mix" || json.at("version") != kMixVersion) {
      return absl::DataLossError(file_path +
                                 ": has another format or version; update this program");
    }
    for (const char* key : {"tokens", "step_tokens", "weight_sum"}) {
      step.settings[key] = json.at(key);
    }
    const Json& weights = json.at("stages").at(0).at("weights");
    Json sources = Json::array();
    for (const Json& source : json.at("sources")) {
      sources.push_back(SourceJson(source, weights.at(sources.size())));
      AddSource(source, &step);
    }
    step.mix = {{"sources", std::move(sources)}, {"stages", json.at("stages")}};
    for (const Json& warning : json.at("warnings")) step.problems.push_back(warning);
  } catch (const nlohmann::json::exception& cause) {
    return absl::DataLossError(file_path + ": is damaged (" + cause.what() +
                               "); repeat the command that writes it");
  }
  return step;
}

}  // namespace trainyard::data

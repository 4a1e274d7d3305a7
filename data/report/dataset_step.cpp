#include "data/report/dataset_step.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "data/report/source_entries.h"
#include "data/tokens/dataset_description.h"
#include "data/tokens/provenance_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

using Json = nlohmann::ordered_json;

void ReadProvenance(const Json& json, StepReport* step) {
  step->name = json.at("command");
  step->settings = json.at("settings");
  step->tokenizer = json.at("tokenizer");
  const std::string working_directory = json.at("working_directory");
  AddSourceEntries(json.at("inputs"), "train", working_directory, &step->inputs);
  AddSourceEntries(json.value("val_inputs", Json::array()), "val", working_directory,
                   &step->inputs);
  step->bad_lines = json.at("bad_lines");
  step->repaired = json.at("repaired");
  for (const Json& source : json.value("sources", Json::array())) {
    step->sources.push_back({source.value("directory", ""), source.at("documents"),
                             source.at("bytes"), source.at("tokens")});
  }
  for (StepSplit& split : step->splits) {
    split.bytes = json.at("splits").at(split.name).at("bytes").get<int64_t>();
  }
}

std::string ChecksumOf(const SplitDescription& split) {
  std::string checksum;
  for (const TokenFileFacts& file : split.files) {
    if (file.token_from < 0) continue;
    if (!checksum.empty()) return "";
    checksum = file.xxh64;
  }
  return checksum;
}

}  // namespace

absl::StatusOr<StepReport> ReadDatasetStep(const std::string& directory) {
  TRAINYARD_ASSIGN_OR_RETURN(const DatasetDescription description, ReadDescription(directory));
  StepReport step;
  std::error_code error;
  std::filesystem::path path = std::filesystem::absolute(directory, error).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  step.directory = path.string();
  step.name = "prepare";
  for (const SplitDescription& split : description.splits) {
    step.splits.push_back(
        {split.split, split.documents, split.tokens, std::nullopt, ChecksumOf(split)});
  }
  const std::string file_path = directory + "/" + kProvenanceFile;
  std::ifstream file(file_path, std::ios::binary);
  if (!file) {
    step.problems.push_back(step.directory + " has no " + kProvenanceFile +
                            ", so its inputs are unknown; prepare the data again to record them");
    return step;
  }
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  // Catches the exceptions by which the JSON library reports damage, missing keys and wrong types.
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != kProvenanceFormat || json.at("version") != kProvenanceVersion) {
      return absl::DataLossError(file_path +
                                 ": has another format or version; update this program");
    }
    ReadProvenance(json, &step);
  } catch (const nlohmann::json::exception& cause) {
    return absl::DataLossError(file_path + ": is damaged (" + cause.what() +
                               "); copy the file again, or prepare the data again");
  }
  for (const StepSplit& split : step.splits) {
    step.documents_out += split.documents;
    step.bytes_out += split.bytes.value_or(0);
  }
  return step;
}

}  // namespace trainyard::data

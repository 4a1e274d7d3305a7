#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "data/stages/hash_text.h"
#include "data/stages/plan.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormatVersion = 2;

// A path need not be UTF-8.
std::string Dump(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json FileJson(const PlanFile& file) {
  return {{"path", file.input.path},
          {"bytes", file.input.bytes},
          {"modified_ns", file.modified_ns},
          {"head_xxh64", HashText(file.head_hash)},
          {"tail_xxh64", HashText(file.tail_hash)}};
}

uint64_t HashValue(const Json& text) { return std::stoull(text.get<std::string>(), nullptr, 16); }

absl::StatusOr<PlanFile> FileOf(const Json& json) {
  const std::string path = json.at("path");
  std::optional<InputFile> input = InputFileNamed(path);
  if (!input) return absl::DataLossError("plan.json names " + path + ", whose kind is unknown");
  input->bytes = json.at("bytes");
  return PlanFile{*std::move(input), json.at("modified_ns"), HashValue(json.at("head_xxh64")),
                  HashValue(json.at("tail_xxh64"))};
}

Json RunsJson(const std::vector<Plan::Run>& runs) {
  Json json = Json::array();
  for (const Plan::Run& run : runs) {
    json.push_back({{"directory", run.directory}, {"plan", run.plan}});
  }
  return json;
}

}  // namespace

std::string Plan::ToJson() const {
  // The first line identifies the directory of a run (data/input/input_files.cpp).
  std::string text = std::string("{") + kPlanMark +
                     ",\n\"version\": " + std::to_string(kFormatVersion) +
                     ",\n\"settings\": " + Dump(settings_) +
                     ",\n\"working_directory\": " + Dump(working_directory_) +
                     ",\n\"runs\": " + Dump(RunsJson(runs_)) + ",\n\"files\": [";
  const char* separator = "\n";
  for (const PlanFile& file : files_) {
    text += separator + Dump(FileJson(file));
    separator = ",\n";
  }
  text += "],\n\"blocks\": [";
  separator = "\n";
  for (const PlanBlock& block : blocks_) {
    text += separator +
            Dump(Json({block.first_file, block.end_file, block.range_begin, block.range_end}));
    separator = ",\n";
  }
  return text + "]}\n";
}

absl::StatusOr<Plan> Plan::FromJson(const std::string& text) {
  Plan plan;
  // Catches the exceptions by which the JSON library reports missing keys and wrong types, and
  // std::stoull a text that is no number.
  try {
    const Json json = Json::parse(text);
    if (json.at("version") != kFormatVersion) {
      return absl::DataLossError("plan.json was written by another version of this program");
    }
    plan.settings_ = json.at("settings");
    plan.working_directory_ = json.at("working_directory");
    for (const Json& run : json.at("runs")) {
      plan.runs_.push_back({run.at("directory"), run.at("plan")});
    }
    for (const Json& file : json.at("files")) {
      TRAINYARD_ASSIGN_OR_RETURN(PlanFile planned, FileOf(file));
      plan.files_.push_back(std::move(planned));
    }
    for (const Json& block : json.at("blocks")) {
      plan.blocks_.push_back({block.at(0), block.at(1), block.at(2), block.at(3)});
    }
  } catch (const std::exception& error) {
    return absl::DataLossError(std::string("plan.json is damaged: ") + error.what());
  }
  for (const PlanBlock& block : plan.blocks_) {
    if (block.first_file < block.end_file && block.end_file <= plan.files_.size()) continue;
    return absl::DataLossError("plan.json is damaged: a block has no files");
  }
  return plan;
}

std::string Plan::Hash() const { return HashText(HashOf(ToJson())); }

}  // namespace trainyard::data

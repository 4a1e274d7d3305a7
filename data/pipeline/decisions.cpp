#include "data/pipeline/decisions.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "data/dedup/dedup_run.h"
#include "data/pipeline/step_pass.h"
#include "data/stages/file_status.h"
#include "data/stages/hash_text.h"
#include "proto/files/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

std::string PathOf(const std::string& directory, size_t block) {
  return directory + "/" + std::to_string(block) + ".json";
}

// The first line is a checksum of the rest.
absl::Status WriteBlock(const nlohmann::ordered_json& json, const std::string& path) {
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return ToStatus(WriteFileAtomically(path, HashTextOf(text) + "\n" + text, {.mode = 0644}));
}

constexpr char kDetailsFile[] = "/details.json";

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

absl::StatusOr<nlohmann::json> ReadBlockFile(const std::string& path) {
  const std::string text = ReadAll(path);
  const size_t line_end = text.find('\n');
  // The checksum shows that this program wrote the text.
  if (line_end != std::string::npos &&
      text.substr(0, line_end) == HashTextOf(text.substr(line_end + 1))) {
    return nlohmann::json::parse(text.substr(line_end + 1));
  }
  return absl::DataLossError(path +
                             " is missing or damaged; put the output on storage that all nodes "
                             "share, then repeat the command");
}

}  // namespace

absl::Status WriteDecisions(const Decider& decider, size_t blocks, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  const std::vector<DroppedDocument>& dropped = decider.decisions().dropped;
  auto next = dropped.begin();
  for (size_t block = 0; block < blocks; ++block) {
    const size_t number = decider.first_new_block() + block;
    const uint64_t first = decider.numbers().FirstOf(number);
    const uint64_t end = decider.numbers().FirstOf(number + 1);
    nlohmann::ordered_json reasons = nlohmann::ordered_json::array();
    for (; next != dropped.end() && next->document < end; ++next) {
      TRAINYARD_ASSIGN_OR_RETURN(std::string reason, ReasonOf(decider, *next));
      reasons.push_back({next->document - first, std::move(reason)});
    }
    TRAINYARD_RETURN_IF_ERROR(WriteBlock(reasons, PathOf(directory, block)));
  }
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<ReportedCluster> clusters, ClustersOf(decider));
  const std::string details =
      DetailsJson(decider, clusters).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return ToStatus(WriteFileAtomically(directory + kDetailsFile, details, {.mode = 0644}));
}

nlohmann::ordered_json ReadDetails(const std::string& directory, const std::string& out) {
  using Json = nlohmann::ordered_json;
  const Json details = Json::parse(ReadAll(directory + kDetailsFile), nullptr, false);
  if (details.is_object()) return details;
  return StoredDetails(out, kDedupStage);
}

absl::StatusOr<std::map<uint64_t, std::string>> ReadDecisions(const std::string& directory,
                                                              size_t block) {
  TRAINYARD_ASSIGN_OR_RETURN(const nlohmann::json json, ReadBlockFile(PathOf(directory, block)));
  std::map<uint64_t, std::string> reasons;
  for (const auto& entry : json) reasons[entry.at(0)] = entry.at(1);
  return reasons;
}

absl::Status WriteWanted(const DocumentNumbers& numbers, const std::vector<bool>& wanted,
                         size_t first_block, size_t blocks, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  for (size_t block = 0; block < blocks; ++block) {
    const uint64_t first = numbers.FirstOf(first_block + block);
    nlohmann::ordered_json indices = nlohmann::ordered_json::array();
    for (uint64_t number = first; number < numbers.FirstOf(first_block + block + 1); ++number) {
      if (wanted[number]) indices.push_back(number - first);
    }
    TRAINYARD_RETURN_IF_ERROR(WriteBlock(indices, PathOf(directory, block)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint64_t>> ReadWanted(const std::string& directory, size_t block) {
  TRAINYARD_ASSIGN_OR_RETURN(const nlohmann::json json, ReadBlockFile(PathOf(directory, block)));
  return json.get<std::vector<uint64_t>>();
}

}  // namespace trainyard::data

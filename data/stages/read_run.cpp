#include "data/stages/read_run.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "data/stages/hash_text.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

// Returns "" if the file cannot be read.
std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void ReadRecords(const std::string& path, StoredRun* run) {
  std::ifstream log(path, std::ios::binary);
  std::string line;
  while (std::getline(log, line)) {
    std::optional<BlockRecord> record = ParseRecord(line, run->plan_hash);
    if (!record || record->block >= run->plan.blocks().size()) return;
    const size_t block = record->block;
    run->records.emplace(block, *std::move(record));
  }
}

}  // namespace

bool IsRunDirectory(const std::string& directory) {
  const std::string mark = std::string("{") + kPlanMark;
  std::ifstream file(directory + "/plan.json", std::ios::binary);
  std::string start(mark.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return file && start == mark;
}

absl::StatusOr<StoredRun> ReadRun(const std::string& directory) {
  if (!IsRunDirectory(directory)) {
    return absl::NotFoundError(directory + " contains no run of `trainyard data`; check the path");
  }
  std::error_code error;
  fs::path path = fs::absolute(directory, error).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const std::string text = TextOf(directory + "/plan.json");
  absl::StatusOr<Plan> plan = Plan::FromJson(text);
  if (!plan.ok()) {
    return absl::DataLossError(directory + ": " + std::string(plan.status().message()) +
                               "; repeat the command that wrote it with --force");
  }
  plan->MakePathsAbsolute();
  StoredRun run{path.string(), *std::move(plan), HashText(HashOf(text)), "", {}, std::nullopt};
  const auto stage = run.plan.settings().find("stage");
  if (stage != run.plan.settings().end() && stage->is_string()) run.stage = *stage;
  // The report is read first: it is written after the last record.
  auto report = nlohmann::ordered_json::parse(TextOf(directory + "/report.json"), nullptr, false);
  ReadRecords(directory + "/records.log", &run);
  if (report.is_object() && run.records.size() == run.plan.blocks().size()) {
    run.report = std::move(report);
  }
  return run;
}

}  // namespace trainyard::data

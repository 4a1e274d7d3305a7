// Reads the directory of a run without changing it.
#ifndef TRAINYARD_DATA_STAGES_READ_RUN_H_
#define TRAINYARD_DATA_STAGES_READ_RUN_H_

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "data/stages/plan.h"
#include "data/stages/record.h"

namespace trainyard::data {

struct StoredRun {
  std::string directory;  // absolute
  Plan plan;              // with absolute paths
  std::string plan_hash;
  std::string stage;                      // its name
  std::map<size_t, BlockRecord> records;  // by block
  // report.json of a complete run; nullopt while blocks are missing.
  std::optional<nlohmann::ordered_json> report;
};

// True if the directory contains the plan of a run.
bool IsRunDirectory(const std::string& directory);

// Records behind the first damaged one are ignored, as in RunDirectory. Another process may write
// the directory at the same time. Returns NotFound if the directory contains no run, and DataLoss
// if plan.json is damaged.
absl::StatusOr<StoredRun> ReadRun(const std::string& directory);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_READ_RUN_H_

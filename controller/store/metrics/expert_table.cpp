#include "controller/store/metrics/expert_table.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/metrics/expert_history.h"
#include "controller/store/support/block_codec.h"
#include "controller/store/support/checksum.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

uint64_t ExpertSeed(int64_t job_id, int64_t step, const StoredExperts& experts) {
  return HashOf({job_id, step, experts.attempt, experts.time_ms});
}

absl::Status DamagedRecord(const SqlDatabase& database, int64_t job_id, int64_t step) {
  return absl::DataLossError(absl::StrCat(database.name(), ": the record of experts of job ",
                                          job_id, ", step ", step,
                                          " is damaged; restore a backup"));
}

absl::StatusOr<std::vector<int64_t>> ReadSteps(SqlDatabase& database, int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const auto query,
      database.Query("SELECT step FROM expert WHERE job_id = $1 ORDER BY step", job_id));
  std::vector<int64_t> steps;
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
    if (!found) return steps;
    steps.push_back(query->Int64(0));
  }
}

absl::Status RemoveOne(SqlDatabase& database, int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<int64_t> steps, ReadSteps(database, job_id));
  const std::optional<int64_t> removed = ExpertStepToRemove(steps);
  if (!removed.has_value()) return absl::OkStatus();
  return database.Run("DELETE FROM expert WHERE job_id = $1 AND step = $2", job_id, *removed);
}

}  // namespace

absl::Status AddExperts(SqlDatabase& database, int64_t job_id, const StoredExperts& experts) {
  const int64_t step = experts.record.step();
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t newer,
      database.QueryInt64("SELECT COUNT(*) FROM expert WHERE job_id = $1 AND step <= $2 AND "
                          "attempt > $3",
                          job_id, step, experts.attempt));
  if (newer > 0) return absl::OkStatus();
  TRAINYARD_RETURN_IF_ERROR(
      database.Run("DELETE FROM expert WHERE job_id = $1 AND step >= $2 AND attempt < $3", job_id,
                   step, experts.attempt));
  const std::string block =
      SealBlock(experts.record.SerializeAsString(), ExpertSeed(job_id, step, experts));
  TRAINYARD_RETURN_IF_ERROR(database.Run(
      "INSERT INTO expert VALUES ($1, $2, $3, $4, $5) ON CONFLICT (job_id, step) DO UPDATE SET "
      "attempt = $3, time_ms = $4, block = $5",
      job_id, step, experts.attempt, experts.time_ms, SqlBlob{block}));
  return RemoveOne(database, job_id);
}

absl::StatusOr<std::vector<StoredExperts>> ReadExpertRecords(SqlDatabase& database,
                                                             int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto query,
                             database.Query("SELECT step, attempt, time_ms, block FROM expert "
                                            "WHERE job_id = $1 ORDER BY step",
                                            job_id));
  std::vector<StoredExperts> records;
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
    if (!found) return records;
    StoredExperts& experts = records.emplace_back();
    experts.attempt = query->Int64(1);
    experts.time_ms = query->Int64(2);
    const int64_t step = query->Int64(0);
    const absl::StatusOr<std::string> raw =
        OpenBlock(query->Bytes(3), ExpertSeed(job_id, step, experts));
    if (!raw.ok() || !experts.record.ParseFromString(*raw)) {
      return DamagedRecord(database, job_id, step);
    }
  }
}

}  // namespace trainyard::controller

#include "controller/store/metrics/data_report_table.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/store/metrics/data_set_table.h"
#include "controller/store/support/block_codec.h"
#include "controller/store/support/checksum.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

uint64_t PartSeed(int64_t job_id, const DataReportKey& key, int64_t part, int64_t time_ms) {
  return HashOf({job_id, key.attempt, key.number, part, time_ms});
}

// Returns the newest report whose parts are all stored. Returns the zero key if there is none.
absl::StatusOr<DataReportKey> NewestComplete(SqlDatabase& database, int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const auto query, database.Query("SELECT attempt, number FROM report_part WHERE job_id = $1 "
                                       "GROUP BY attempt, number HAVING COUNT(*) = MAX(parts) "
                                       "ORDER BY attempt DESC, number DESC LIMIT 1",
                                       job_id));
  TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
  return found ? DataReportKey{query->Int64(0), query->Int64(1)} : DataReportKey();
}

// Stores the data sets of the newest complete report. If the report is damaged, the job has no data
// sets, because telemetry of the job must still be accepted. ReadNewestReport reports the damage.
absl::Status StoreDataSets(SqlDatabase& database, int64_t job_id) {
  const absl::StatusOr<std::optional<StoredDataReport>> report = ReadNewestReport(database, job_id);
  if (absl::IsDataLoss(report.status())) return WriteDataSets(database, job_id, {});
  TRAINYARD_RETURN_IF_ERROR(report.status());
  const std::string text = report->has_value() ? (*report)->text : "";
  return WriteDataSets(database, job_id, DataSetsInReport(text));
}

}  // namespace

absl::Status AddReportPart(SqlDatabase& database, int64_t job_id, const StoredReportPart& part) {
  const DataReportKey key = part.key();
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t newer,
      database.QueryInt64("SELECT COUNT(*) FROM report_part WHERE job_id = $1 AND "
                          "(attempt, number) > ($2, $3)",
                          job_id, key.attempt, key.number));
  if (newer > 0) return absl::OkStatus();
  const int64_t number = part.record.part();
  const std::string block =
      SealBlock(part.record.text(), PartSeed(job_id, key, number, part.time_ms));
  TRAINYARD_RETURN_IF_ERROR(database.Run(
      "INSERT INTO report_part VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (job_id, attempt, "
      "number, part) DO UPDATE SET parts = $5, time_ms = $6, block = $7",
      job_id, key.attempt, key.number, number, int64_t{part.record.parts()}, part.time_ms,
      SqlBlob{block}));
  TRAINYARD_ASSIGN_OR_RETURN(const DataReportKey complete, NewestComplete(database, job_id));
  if (complete == key) TRAINYARD_RETURN_IF_ERROR(StoreDataSets(database, job_id));
  return database.Run(
      "DELETE FROM report_part WHERE job_id = $1 AND (attempt, number) != ($2, $3) AND "
      "(attempt, number) != ($4, $5)",
      job_id, key.attempt, key.number, complete.attempt, complete.number);
}

absl::StatusOr<std::optional<StoredDataReport>> ReadNewestReport(SqlDatabase& database,
                                                                 int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(const DataReportKey key, NewestComplete(database, job_id));
  if (key == DataReportKey()) return std::optional<StoredDataReport>();
  StoredDataReport report{.attempt = key.attempt};
  TRAINYARD_ASSIGN_OR_RETURN(
      const auto query,
      database.Query("SELECT part, time_ms, block FROM report_part WHERE job_id = $1 AND "
                     "attempt = $2 AND number = $3 ORDER BY part",
                     job_id, key.attempt, key.number));
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
    if (!found) return std::optional(std::move(report));
    const int64_t time_ms = query->Int64(1);
    const absl::StatusOr<std::string> text =
        OpenBlock(query->Bytes(2), PartSeed(job_id, key, query->Int64(0), time_ms));
    if (!text.ok()) {
      return absl::DataLossError(absl::StrCat(database.name(), ": the data report of job ", job_id,
                                              " is damaged; restore a backup"));
    }
    report.text += *text;
    report.time_ms = std::max(report.time_ms, time_ms);
  }
}

}  // namespace trainyard::controller

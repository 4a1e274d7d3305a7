#include "controller/store/transfer/sqlite_side.h"

#include "absl/strings/str_cat.h"
#include "controller/store/archive/sqlite_job_archive.h"
#include "controller/store/events/sqlite_event_log.h"
#include "controller/store/logs/sqlite_log_store.h"
#include "controller/store/metrics/sqlite_metric_store.h"

namespace trainyard::controller {

std::string SqliteSide::PathOf(StorePart part) const {
  constexpr std::array kNames = {"events", "metrics", "logs"};
  return absl::StrCat(directory_, "/", kNames[static_cast<std::size_t>(part)], ".db");
}

absl::StatusOr<std::unique_ptr<SqliteSide>> SqliteSide::Open(const std::string& directory) {
  using enum StorePart;
  std::unique_ptr<SqliteSide> side(new SqliteSide(directory));
  // Opening a store upgrades its schema.
  TRAINYARD_RETURN_IF_ERROR(SqliteEventLog::Open(side->PathOf(kEvents)).status());
  TRAINYARD_RETURN_IF_ERROR(SqliteMetricStore::Open(side->PathOf(kMetrics)).status());
  TRAINYARD_RETURN_IF_ERROR(SqliteLogStore::Open(side->PathOf(kLogs)).status());
  for (const StorePart part : {kEvents, kMetrics, kLogs}) {
    TRAINYARD_ASSIGN_OR_RETURN(
        side->DatabaseOf(part),
        SqliteDatabase::Open(side->PathOf(part), SqliteDatabase::Mode::kWriter));
  }
  return side;
}

absl::Status SqliteSide::Write(StorePart part, const std::function<absl::Status()>& write) {
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginWrite(*DatabaseOf(part)));
  TRAINYARD_RETURN_IF_ERROR(write());
  return transaction.Commit();
}

absl::Status SqliteSide::AddArchived(const std::vector<v1::ArchivedJob>& jobs) {
  SqliteJobArchive::Changes changes;
  return SqliteJobArchive::Insert(jobs, *DatabaseOf(StorePart::kEvents), changes);
}

absl::StatusOr<std::optional<v1::Snapshot>> SqliteSide::ReadSnapshot() {
  TRAINYARD_ASSIGN_OR_RETURN(auto log, SqliteEventLog::Open(PathOf(StorePart::kEvents)));
  TRAINYARD_ASSIGN_OR_RETURN(EventLog::Recovery recovery, log->Recover());
  return std::move(recovery.snapshot);
}

absl::Status SqliteSide::WriteSnapshot(const v1::Snapshot& snapshot) {
  TRAINYARD_ASSIGN_OR_RETURN(auto log, SqliteEventLog::Open(PathOf(StorePart::kEvents)));
  return log->WriteSnapshot(snapshot);
}

}  // namespace trainyard::controller

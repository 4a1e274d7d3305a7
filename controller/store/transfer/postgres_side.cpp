#include "controller/store/transfer/postgres_side.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/postgres/leader_table.h"
#include "controller/store/postgres/postgres_connections.h"
#include "controller/store/postgres/postgres_job_archive.h"
#include "controller/store/postgres/postgres_snapshot.h"

namespace trainyard::controller {
namespace {

// A reader's transaction is idle while SQLite writes a page of rows, and a large page takes longer
// than a controller's statement.
constexpr PostgresLimits kTransferLimits{
    .statement_ms = 60'000, .idle_transaction_ms = 300'000, .answer_ms = 65'000};

constexpr char kEventTables[] =
    "event,deletion,term,store_mark,archived_job,archived_record,archived_count,snapshot,"
    "snapshot_part,leader_note";

}  // namespace

absl::StatusOr<std::unique_ptr<PostgresSide>> PostgresSide::ForWriting(const std::string& settings,
                                                                       int64_t leader_term) {
  TRAINYARD_ASSIGN_OR_RETURN(auto database, PostgresDatabase::Connect(settings, kTransferLimits));
  return std::unique_ptr<PostgresSide>(new PostgresSide(std::move(database), leader_term));
}

absl::StatusOr<std::unique_ptr<PostgresSide>> PostgresSide::ForReading(
    const std::string& settings) {
  TRAINYARD_ASSIGN_OR_RETURN(auto database, PostgresDatabase::Connect(settings, kTransferLimits));
  std::unique_ptr<PostgresSide> side(new PostgresSide(std::move(database), 0));
  TRAINYARD_ASSIGN_OR_RETURN(auto view, PostgresTransaction::BeginRead(*side->database_));
  side->view_.emplace(std::move(view));
  return side;
}

std::string PostgresSide::MarkTableOf(StorePart part) const {
  return part == StorePart::kMetrics ? MetricTablesInPostgres().mark : LogTablesInPostgres().mark;
}

absl::Status PostgresSide::RemoveRows() {
  const auto names = [](const PostgresStoreTables& tables) {
    return tables.all.substr(tables.all.find(',') + 1);  // The first one is the mark.
  };
  return Write(StorePart::kEvents, [&] {
    return database_->RunScript(absl::StrCat("TRUNCATE ", kEventTables, ",",
                                             names(MetricTablesInPostgres()), ",",
                                             names(LogTablesInPostgres())));
  });
}

absl::Status PostgresSide::Write(StorePart, const std::function<absl::Status()>& write) {
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, BeginLeaderWrite(leader_term_, *database_));
  TRAINYARD_RETURN_IF_ERROR(write());
  return transaction.Commit();
}

absl::Status PostgresSide::AddArchived(const std::vector<v1::ArchivedJob>& jobs) {
  PostgresJobArchive::Changes changes;
  return PostgresJobArchive::Insert(jobs, *database_, changes);
}

absl::StatusOr<std::optional<v1::Snapshot>> PostgresSide::ReadSnapshot() {
  if (view_.has_value()) return ReadPostgresSnapshot(*database_);
  TRAINYARD_ASSIGN_OR_RETURN(const auto transaction, PostgresTransaction::BeginRead(*database_));
  return ReadPostgresSnapshot(*database_);
}

absl::Status PostgresSide::WriteSnapshot(const v1::Snapshot& snapshot) {
  return WritePostgresSnapshot(snapshot, leader_term_, *database_);
}

absl::Status PostgresSide::SetNextIds() {
  return Write(StorePart::kEvents, [&]() -> absl::Status {
    for (const char* table : {"series", "tail", "chunk", "log_stream", "segment"}) {
      TRAINYARD_RETURN_IF_ERROR(database_->RunScript(
          absl::StrCat("SELECT setval(pg_get_serial_sequence('", table,
                       "', 'id'), COALESCE((SELECT MAX(id) FROM ", table, "), 0) + 1, false)")));
    }
    return absl::OkStatus();
  });
}

}  // namespace trainyard::controller

#include "controller/store/postgres/postgres_log_tail.h"

#include "absl/strings/str_cat.h"
#include "controller/store/postgres/event_rows.h"
#include "controller/store/postgres/postgres_snapshot.h"

namespace trainyard::controller {
namespace {

constexpr int kBatchEvents = 512;

}  // namespace

absl::StatusOr<std::unique_ptr<PostgresLogTail>> PostgresLogTail::Open(
    const std::string& settings) {
  TRAINYARD_ASSIGN_OR_RETURN(auto database, PostgresDatabase::Connect(settings));
  return std::unique_ptr<PostgresLogTail>(new PostgresLogTail(std::move(database)));
}

absl::StatusOr<bool> PostgresLogTail::AddEvents(Batch& batch) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const PostgresRows rows,
      database_->Query("SELECT seq, payload, checksum FROM event WHERE seq > $1 ORDER BY seq "
                       "LIMIT $2",
                       batch.last_sequence, kBatchEvents));
  const uint64_t before = batch.last_sequence;
  for (int row = 0; row < rows.size(); ++row) {
    // The events before a gap are sound. The next call finds the gap at its first row.
    if (static_cast<uint64_t>(rows.Int64(row, 0)) != batch.last_sequence + 1) break;
    TRAINYARD_ASSIGN_OR_RETURN(v1::Event event, ReadEventRow(rows, row, *database_));
    batch.events.push_back(std::move(event));
    ++batch.last_sequence;
  }
  const auto added = static_cast<int>(batch.last_sequence - before);
  batch.has_more = added == kBatchEvents || added < rows.size();
  return added > 0 || rows.size() == 0;
}

absl::StatusOr<LogTail::Batch> PostgresLogTail::ReadAfter(uint64_t after) {
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, PostgresTransaction::BeginRead(*database_));
  if (after != 0) {
    Batch next;
    next.last_sequence = after;
    TRAINYARD_ASSIGN_OR_RETURN(const bool is_continuous, AddEvents(next));
    if (is_continuous) return next;
  }
  Batch first;
  first.restarts = true;
  TRAINYARD_ASSIGN_OR_RETURN(first.snapshot, ReadPostgresSnapshot(*database_));
  if (first.snapshot.has_value()) first.last_sequence = first.snapshot->last_sequence();
  TRAINYARD_ASSIGN_OR_RETURN(const bool is_continuous, AddEvents(first));
  if (is_continuous) return first;
  return DamagedLog(*database_, absl::StrCat("event ", first.last_sequence + 1, " is missing"));
}

}  // namespace trainyard::controller

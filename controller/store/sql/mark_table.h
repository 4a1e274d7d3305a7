// The row in which a store records its mark of the event log (store_mark.h).
#ifndef TRAINYARD_CONTROLLER_STORE_SQL_MARK_TABLE_H_
#define TRAINYARD_CONTROLLER_STORE_SQL_MARK_TABLE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/sql/sql_connections.h"
#include "controller/store/support/store_mark.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Not thread-safe; only position() may be called on any thread.
class MarkTable {
 public:
  // Reads the row that the store's schema creates (kMarkSchema).
  static absl::StatusOr<std::unique_ptr<MarkTable>> Open(SqlConnections& connections);
  static absl::StatusOr<v1::LogMark> Read(SqlConnections& connections);

  void Note(const v1::LogMark& mark) { noted_ = mark; }
  // Makes the recorded mark durable in its own transaction. Does nothing if the mark is already
  // durable.
  absl::Status WriteIfDue(SqlConnections& connections);
  // Writes the recorded mark within the caller's transaction, and counts that transaction as a
  // write.
  absl::Status Write(SqlDatabase& database);
  // Call after the transaction that contains Write was committed.
  void Committed();
  StoreMark position() const { return {store_id_, writes_.load()}; }

 private:
  MarkTable(std::string table, int64_t store_id, int64_t writes, v1::LogMark written)
      : table_(std::move(table)),
        store_id_(store_id),
        noted_(written),
        written_(written),
        writes_(writes) {}

  const std::string table_;
  const int64_t store_id_;
  v1::LogMark noted_;
  v1::LogMark written_;
  std::atomic<int64_t> writes_;
};

// The migration that adds the mark's table to the schema of a store in SQLite.
inline constexpr char kMarkSchema[] = R"(
  CREATE TABLE mark (
    store_id INTEGER NOT NULL,
    writes INTEGER NOT NULL,
    term INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    job_id INTEGER NOT NULL
  ) STRICT;
  INSERT INTO mark VALUES (random(), 0, 0, 0, 0);
)";

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SQL_MARK_TABLE_H_

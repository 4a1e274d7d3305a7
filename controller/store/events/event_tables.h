// Tables of the event log's database: the schema, the rows of events, and the snapshot.
#ifndef TRAINYARD_CONTROLLER_STORE_EVENTS_EVENT_TABLES_H_
#define TRAINYARD_CONTROLLER_STORE_EVENTS_EVENT_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "controller/core/event_log/log_record.h"
#include "controller/store/events/event_log.h"
#include "controller/store/sqlite/migrations.h"
#include "controller/store/sqlite/sqlite_database.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// The size of a part of a snapshot. Each part has its own transaction, so that an append waits for
// at most one part.
inline constexpr std::size_t kSnapshotPartBytes = 256 << 10;
// The id of a part is set * kPartsOfSet + part number. Every snapshot has fewer parts than this.
inline constexpr int64_t kPartsOfSet = 1 << 20;

std::span<const Migration> EventMigrations();

// Returns a DATA_LOSS error that names the file and says what to do. `what` describes the damage.
absl::Status EventsDamaged(const std::string& path, absl::string_view what);

// Returns the event in the query's current row. Columns: seq, payload, checksum.
absl::StatusOr<v1::Event> ReadEvent(const SqliteQuery& query, const std::string& path);

// Returns the events of all rows. Columns: seq, payload, checksum.
absl::StatusOr<std::vector<v1::EventEntry>> ReadEntries(SqliteQuery& query,
                                                        const std::string& path);

// Inserts the event's row. If the event deletes a job, also inserts the row of the deletion.
// Requires a write transaction.
absl::Status InsertEvent(SqliteDatabase& writer, const LogRecord& event, int64_t sequence);

// Reads the snapshot and the events after it, up to `last`, in one consistent view.
absl::StatusOr<EventLog::Recovery> ReadRecovery(int64_t last, SqliteDatabase& database);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_EVENTS_EVENT_TABLES_H_

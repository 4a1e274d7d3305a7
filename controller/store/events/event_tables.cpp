#include "controller/store/events/event_tables.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/archive/archive_order.h"
#include "controller/store/archive/sqlite_job_archive.h"
#include "controller/store/events/event_payload.h"
#include "controller/store/support/block_codec.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// kArchiveSchema is constant-initialized, so it can be used here before dynamic initialization.
const std::array<Migration, 8> kEventMigrations = {
    // The index event_by_job finds the events of a job. The index is partial, because most node
    // events have no job.
    Migration{R"(
      CREATE TABLE event (
        seq INTEGER PRIMARY KEY,
        job_id INTEGER NOT NULL,
        time_ms INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        payload BLOB NOT NULL,
        checksum INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX event_by_job ON event (job_id, seq) WHERE job_id != 0;
      CREATE TABLE snapshot (
        last_sequence INTEGER PRIMARY KEY,
        payload BLOB NOT NULL,
        checksum INTEGER NOT NULL
      ) STRICT;
    )"},
    // If `sealed` is set, the payload is compressed (block_codec.h). A small payload is written
    // quickly, so an append waits only briefly for a snapshot.
    Migration{R"(
      ALTER TABLE snapshot ADD COLUMN sealed INTEGER NOT NULL DEFAULT 0;
    )"},
    Migration{kArchiveSchema},
    // Deletions of jobs. Each row is inserted together with the event of the deletion.
    Migration{R"(
      CREATE TABLE deletion (
        job_id INTEGER PRIMARY KEY,
        seq INTEGER NOT NULL,
        finished INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX deletion_by_event ON deletion (seq);
      CREATE INDEX open_deletion ON deletion (seq) WHERE finished = 0;
    )"},
    Migration{kArchiveTimeSchema},
    // These tables show whether this log or another store was replaced by an older copy
    // (log_terms.h, store_mark.h).
    Migration{R"(
      CREATE TABLE term (
        first_sequence INTEGER PRIMARY KEY,
        id INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE store_mark (
        store TEXT PRIMARY KEY,
        store_id INTEGER NOT NULL,
        writes INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
    )"},
    // A large snapshot is written in parts, so that an append never waits for the whole snapshot.
    // `part_set` identifies the parts of a snapshot. If `part_set` is 0, the snapshot's row
    // contains the payload.
    Migration{R"(
      ALTER TABLE snapshot ADD COLUMN part_set INTEGER NOT NULL DEFAULT 0;
      CREATE TABLE snapshot_part (
        id INTEGER PRIMARY KEY,
        payload BLOB NOT NULL
      ) STRICT;
    )"},
    Migration{kArchiveFigureSchema},
};

static_assert(kBlockBytesMax / kSnapshotPartBytes < kPartsOfSet);

constexpr char kNextStep[] = "; restore a backup with `trainyard server restore`";

absl::StatusOr<std::string> JoinParts(int64_t set, SqliteDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(
      SqliteQuery query,
      database.Query("SELECT payload FROM snapshot_part WHERE id >= ? AND id < ? ORDER BY id",
                     set * kPartsOfSet, (set + 1) * kPartsOfSet));
  std::string joined;
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
    if (!found) return joined;
    joined += query.Bytes(0);
  }
}

absl::Status ReadSnapshot(SqliteDatabase& database, EventLog::Recovery& recovery) {
  TRAINYARD_ASSIGN_OR_RETURN(
      SqliteQuery query,
      database.Query("SELECT last_sequence, payload, checksum, sealed, part_set FROM snapshot "
                     "ORDER BY last_sequence DESC LIMIT 1"));
  TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
  if (!found) return absl::OkStatus();
  const int64_t sequence = query.Int64(0);
  std::string_view payload = query.Bytes(1);
  std::string joined;
  if (query.Int64(4) != 0) {
    TRAINYARD_ASSIGN_OR_RETURN(joined, JoinParts(query.Int64(4), database));
    payload = joined;
  }
  const auto damaged = [&] {
    return EventsDamaged(database.path(),
                         absl::StrCat("the snapshot at event ", sequence, " is damaged"));
  };
  if (PayloadChecksum(payload, sequence) != query.Int64(2)) return damaged();
  std::string opened;
  if (query.Int64(3) != 0) {
    auto raw = OpenBlock(payload, static_cast<uint64_t>(sequence));
    if (!raw.ok()) return damaged();
    opened = *std::move(raw);
    payload = opened;
  }
  v1::Snapshot& snapshot = recovery.snapshot.emplace();
  if (!snapshot.ParseFromArray(payload.data(), static_cast<int>(payload.size())) ||
      static_cast<int64_t>(snapshot.last_sequence()) != sequence) {
    return damaged();
  }
  recovery.last_sequence = static_cast<uint64_t>(sequence);
  return absl::OkStatus();
}

// Reads the events after the snapshot, up to `last`.
absl::Status ReadEvents(int64_t last, SqliteDatabase& database, EventLog::Recovery& recovery) {
  TRAINYARD_ASSIGN_OR_RETURN(
      SqliteQuery query,
      database.Query("SELECT seq, payload, checksum FROM event WHERE seq > ? AND "
                     "seq <= ? ORDER BY seq",
                     recovery.last_sequence, last));
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
    if (!found) break;
    const auto sequence = static_cast<uint64_t>(query.Int64(0));
    if (sequence != recovery.last_sequence + 1) {
      return EventsDamaged(database.path(),
                           absl::StrCat("event ", recovery.last_sequence + 1, " is missing"));
    }
    TRAINYARD_ASSIGN_OR_RETURN(v1::Event event, ReadEvent(query, database.path()));
    recovery.events.push_back(std::move(event));
    recovery.last_sequence = sequence;
  }
  return absl::OkStatus();
}

}  // namespace

std::span<const Migration> EventMigrations() { return kEventMigrations; }

absl::Status EventsDamaged(const std::string& path, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(path, ": ", what, kNextStep));
}

absl::StatusOr<v1::Event> ReadEvent(const SqliteQuery& query, const std::string& path) {
  const int64_t sequence = query.Int64(0);
  std::optional<v1::Event> event = OpenEvent(query.Bytes(1), sequence, query.Int64(2));
  if (!event.has_value()) {
    return EventsDamaged(path, absl::StrCat("event ", sequence, " is damaged"));
  }
  return *std::move(event);
}

absl::StatusOr<std::vector<v1::EventEntry>> ReadEntries(SqliteQuery& query,
                                                        const std::string& path) {
  std::vector<v1::EventEntry> entries;
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
    if (!found) return entries;
    v1::EventEntry& entry = entries.emplace_back();
    entry.set_sequence(static_cast<uint64_t>(query.Int64(0)));
    TRAINYARD_ASSIGN_OR_RETURN(*entry.mutable_event(), ReadEvent(query, path));
  }
}

absl::Status InsertEvent(SqliteDatabase& writer, const LogRecord& event, int64_t sequence) {
  if (event.kind == v1::Event::kJobDeleted) {
    TRAINYARD_RETURN_IF_ERROR(
        writer.Run("INSERT OR REPLACE INTO deletion VALUES (?, ?, 0)", event.job_id, sequence));
  }
  return writer.Run(
      "INSERT INTO event (seq, job_id, time_ms, kind, payload, checksum) VALUES (?, ?, ?, ?, ?, ?)",
      sequence, event.job_id, event.time_ms, event.kind, SqlBlob{event.payload},
      PayloadChecksum(event.payload, sequence));
}

absl::StatusOr<EventLog::Recovery> ReadRecovery(int64_t last, SqliteDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginRead(database));
  EventLog::Recovery recovery;
  TRAINYARD_RETURN_IF_ERROR(ReadSnapshot(database, recovery));
  TRAINYARD_RETURN_IF_ERROR(ReadEvents(last, database, recovery));
  return recovery;
}

}  // namespace trainyard::controller

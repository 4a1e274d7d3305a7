#include "controller/store/events/sqlite_event_log.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/events/event_payload.h"
#include "controller/store/events/event_tables.h"
#include "controller/store/sqlite/migrations.h"
#include "controller/store/sqlite/sqlite_space.h"
#include "controller/store/support/block_codec.h"

namespace trainyard::controller {
namespace {

constexpr int64_t kNewest = std::numeric_limits<int64_t>::max();

// The number of events deleted per transaction. An append waits for at most one such transaction.
constexpr int kDroppedEvents = 256;
// The number of sequence numbers per transaction that are scanned for node events.
constexpr int64_t kScannedEvents = 4096;
constexpr int kOpenDeletionsMax = 100;

}  // namespace

SqliteEventLog::SqliteEventLog(std::unique_ptr<SqliteDatabase> writer, uint64_t last_sequence,
                               std::unique_ptr<SqliteJobArchive> archive)
    : writer_(std::move(writer)),
      last_sequence_(last_sequence),
      readers_(writer_->path()),
      archive_(std::move(archive)),
      term_(NewTermId()) {}

absl::StatusOr<std::unique_ptr<SqliteEventLog>> SqliteEventLog::Open(const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(auto writer,
                             SqliteDatabase::Open(path, SqliteDatabase::Mode::kWriter));
  TRAINYARD_RETURN_IF_ERROR(Migrate(*writer, EventMigrations()));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t last, writer->QueryInt64("SELECT MAX(seq) FROM event"));
  TRAINYARD_ASSIGN_OR_RETURN(auto archive, SqliteJobArchive::Open(*writer));
  std::unique_ptr<SqliteEventLog> log(
      new SqliteEventLog(std::move(writer), static_cast<uint64_t>(last), std::move(archive)));
  TRAINYARD_RETURN_IF_ERROR(log->LoadTerms());
  return log;
}

absl::Status SqliteEventLog::LoadTerms() {
  TRAINYARD_ASSIGN_OR_RETURN(
      SqliteQuery query,
      writer_->Query("SELECT first_sequence, id FROM term ORDER BY first_sequence"));
  std::vector<LogTerm> terms;
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
    if (!found) break;
    terms.push_back({static_cast<uint64_t>(query.Int64(0)), static_cast<uint64_t>(query.Int64(1))});
  }
  terms_.Load(std::move(terms), last_sequence_);
  return absl::OkStatus();
}

absl::Status SqliteEventLog::WriteTerm() {
  if (!terms_.Begins(term_)) return absl::OkStatus();
  return writer_->Run("INSERT OR REPLACE INTO term VALUES (?, ?)",
                      static_cast<int64_t>(last_sequence_ + 1), static_cast<int64_t>(term_));
}

absl::Status SqliteEventLog::WriteStoreMarks(int64_t time_ms) {
  const std::map<std::string, StoreMark> due = noted_marks_.Due(time_ms);
  for (const auto& [store, mark] : due) {
    TRAINYARD_RETURN_IF_ERROR(writer_->Run("INSERT OR REPLACE INTO store_mark VALUES (?, ?, ?)",
                                           store, mark.store_id, mark.writes));
  }
  if (!due.empty()) noted_marks_.Stored(time_ms);
  return absl::OkStatus();
}

void SqliteEventLog::NoteStore(const std::string& store, const StoreMark& mark) {
  noted_marks_.Note(store, mark);
}

absl::StatusOr<std::map<std::string, StoreMark>> SqliteEventLog::StoreMarks() {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(SqliteQuery query,
                             reader->Query("SELECT store, store_id, writes FROM store_mark"));
  std::map<std::string, StoreMark> marks;
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
    if (!found) return marks;
    marks[std::string(query.Bytes(0))] = {query.Int64(1), query.Int64(2)};
  }
}

absl::Status SqliteEventLog::Append(const std::vector<LogRecord>& events,
                                    const std::vector<v1::ArchivedJob>& archived) {
  if (events.empty()) return absl::OkStatus();
  const std::lock_guard lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginWrite(*writer_));
  uint64_t sequence = last_sequence_;
  SqliteJobArchive::Changes changes;
  for (const LogRecord& event : events) {
    TRAINYARD_RETURN_IF_ERROR(InsertEvent(*writer_, event, static_cast<int64_t>(++sequence)));
    if (event.kind != v1::Event::kJobDeleted) continue;
    TRAINYARD_RETURN_IF_ERROR(SqliteJobArchive::Remove(event.job_id, *writer_, changes));
  }
  TRAINYARD_RETURN_IF_ERROR(SqliteJobArchive::Insert(archived, *writer_, changes));
  TRAINYARD_RETURN_IF_ERROR(WriteTerm());
  TRAINYARD_RETURN_IF_ERROR(WriteStoreMarks(events.back().time_ms));
  TRAINYARD_RETURN_IF_ERROR(transaction.Commit());
  last_sequence_ = sequence;
  terms_.Appended(term_, sequence);
  archive_->CountCommitted(changes);
  return absl::OkStatus();
}

absl::Status SqliteEventLog::TryWrite() {
  const std::lock_guard lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginWrite(*writer_));
  // Write the schema version again without changing it. SQLite writes the page anyway, which tests
  // whether the disk can be written.
  TRAINYARD_RETURN_IF_ERROR(
      writer_->RunScript(absl::StrCat("PRAGMA user_version = ", EventMigrations().size())));
  return transaction.Commit();
}

absl::Status SqliteEventLog::WriteSnapshot(const v1::Snapshot& snapshot) {
  const uint64_t sequence = snapshot.last_sequence();
  if (snapshot.ByteSizeLong() > kBlockBytesMax) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the snapshot at event ", sequence, " takes ", snapshot.ByteSizeLong(),
                     " bytes, so it was not stored: the store accepts at most ", kBlockBytesMax,
                     ". All events are kept, but a restart takes longer"));
  }
  const std::string sealed = SealBlock(snapshot.SerializeAsString(), sequence);
  TRAINYARD_RETURN_IF_ERROR(DropStaleParts());
  const absl::StatusOr<int64_t> set = WriteSnapshotParts(sealed);
  const absl::Status installed = set.ok() ? InstallSnapshot(sequence, sealed, *set) : set.status();
  // Drop stale parts even after a failure, so that unused parts do not fill the disk.
  const absl::Status dropped = DropStaleParts();
  return installed.ok() ? dropped : installed;
}

absl::Status SqliteEventLog::InstallSnapshot(uint64_t last_sequence, std::string_view sealed,
                                             int64_t set) {
  const auto sequence = static_cast<int64_t>(last_sequence);
  const std::string_view inlined = set == 0 ? sealed : std::string_view();
  const BackgroundLock lock(mutex_);
  TRAINYARD_RETURN_IF_ERROR(CheckSnapshotEnd(last_sequence));
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginWrite(*writer_));
  TRAINYARD_RETURN_IF_ERROR(writer_->Run("DELETE FROM snapshot"));
  TRAINYARD_RETURN_IF_ERROR(
      writer_->Run("INSERT INTO snapshot (last_sequence, payload, checksum, sealed, part_set) "
                   "VALUES (?, ?, ?, 1, ?)",
                   sequence, SqlBlob{inlined}, PayloadChecksum(sealed, sequence), set));
  return transaction.Commit();
}

absl::Status SqliteEventLog::CheckSnapshotEnd(uint64_t last_sequence) const {
  if (last_sequence <= last_sequence_) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the snapshot contains events up to ",
                                                 last_sequence, " but the log ends at ",
                                                 last_sequence_));
}

absl::StatusOr<int64_t> SqliteEventLog::WriteSnapshotParts(std::string_view sealed) {
  if (sealed.size() <= kSnapshotPartBytes) return 0;
  int64_t set = 0;
  for (int64_t part = 0; !sealed.empty(); ++part) {
    const std::string_view bytes = sealed.substr(0, kSnapshotPartBytes);
    sealed.remove_prefix(bytes.size());
    const BackgroundLock lock(mutex_);
    if (part == 0) {
      TRAINYARD_ASSIGN_OR_RETURN(const int64_t newest,
                                 writer_->QueryInt64("SELECT MAX(id) FROM snapshot_part"));
      set = newest / kPartsOfSet + 1;
    }
    TRAINYARD_RETURN_IF_ERROR(writer_->Run("INSERT INTO snapshot_part (id, payload) VALUES (?, ?)",
                                           set * kPartsOfSet + part, SqlBlob{bytes}));
  }
  return set;
}

absl::Status SqliteEventLog::DropStaleParts() {
  while (true) {
    const BackgroundLock lock(mutex_);
    TRAINYARD_RETURN_IF_ERROR(
        writer_->Run("DELETE FROM snapshot_part WHERE id = (SELECT id FROM snapshot_part WHERE "
                     "id / ? NOT IN (SELECT part_set FROM snapshot) LIMIT 1)",
                     kPartsOfSet));
    if (writer_->ChangedRows() == 0) return absl::OkStatus();
  }
}

absl::StatusOr<EventLog::Recovery> SqliteEventLog::Recover() {
  const std::lock_guard lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(Recovery recovery, ReadRecovery(kNewest, *writer_));
  if (recovery.last_sequence != last_sequence_) {
    return EventsDamaged(writer_->path(), absl::StrCat("events up to ", recovery.last_sequence,
                                                       " can be read, but the log ends with event ",
                                                       last_sequence_));
  }
  return recovery;
}

absl::StatusOr<EventLog::Recovery> SqliteEventLog::ReadUpTo(uint64_t last_sequence) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(Recovery recovery,
                             ReadRecovery(static_cast<int64_t>(last_sequence), *reader));
  if (recovery.last_sequence != last_sequence) {
    return EventsDamaged(
        reader->path(),
        absl::StrCat("events up to ", recovery.last_sequence,
                     " can be read, but the requested last event is ", last_sequence));
  }
  return recovery;
}

absl::StatusOr<std::vector<v1::Event>> SqliteEventLog::ReadJobEvents(int64_t job_id, int limit) {
  if (limit < 1) return absl::InvalidArgumentError("the limit of job events must be at least 1");
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  std::vector<v1::Event> events;
  TRAINYARD_ASSIGN_OR_RETURN(
      SqliteQuery query,
      reader->Query("SELECT seq, payload, checksum FROM event WHERE job_id = ? AND job_id != 0 "
                    "ORDER BY seq DESC LIMIT ?",
                    job_id, limit));
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
    if (!found) break;
    TRAINYARD_ASSIGN_OR_RETURN(v1::Event event, ReadEvent(query, writer_->path()));
    events.push_back(std::move(event));
  }
  std::ranges::reverse(events);
  return events;
}

absl::StatusOr<std::vector<v1::EventEntry>> SqliteEventLog::ReadEventsBefore(int64_t job_id,
                                                                             uint64_t before,
                                                                             int limit) {
  if (limit < 1) return absl::InvalidArgumentError("the limit of events must be at least 1");
  const int64_t end = before == 0 ? kNewest : static_cast<int64_t>(before);
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(
      SqliteQuery query,
      job_id == 0 ? reader->Query("SELECT seq, payload, checksum FROM event WHERE seq < ? "
                                  "ORDER BY seq DESC LIMIT ?",
                                  end, limit)
                  : reader->Query("SELECT seq, payload, checksum FROM event WHERE job_id = ? AND "
                                  "job_id != 0 AND seq < ? ORDER BY seq DESC LIMIT ?",
                                  job_id, end, limit));
  return ReadEntries(query, writer_->path());
}

absl::StatusOr<std::vector<v1::EventEntry>> SqliteEventLog::ReadEventsAfter(uint64_t after,
                                                                            int limit) {
  if (limit < 1) return absl::InvalidArgumentError("the limit of events must be at least 1");
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(
      SqliteQuery query,
      reader->Query("SELECT seq, payload, checksum FROM event WHERE seq > ? ORDER BY seq LIMIT ?",
                    after, limit));
  return ReadEntries(query, reader->path());
}

absl::StatusOr<StoreUsage> SqliteEventLog::Usage() {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return ReadUsage(*reader);
}

absl::StatusOr<int64_t> SqliteEventLog::NextJob(int64_t after) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return reader->QueryInt64("SELECT MIN(job_id) FROM event WHERE job_id > ? AND job_id != 0",
                            after);
}

absl::StatusOr<int64_t> SqliteEventLog::JobBytes(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return reader->QueryInt64(
      "SELECT SUM(LENGTH(payload)) FROM event WHERE job_id = ? AND job_id != 0", job_id);
}

absl::StatusOr<bool> SqliteEventLog::Reclaim() {
  const BackgroundLock lock(mutex_);
  return ReturnFreePages(*writer_);
}

absl::StatusOr<int64_t> SqliteEventLog::LastDroppable() {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t held,
                             writer_->QueryInt64("SELECT MAX(last_sequence) FROM snapshot"));
  // Never remove the newest event, because it marks the end of the log.
  return std::min(held, static_cast<int64_t>(last_sequence_) - 1);
}

absl::StatusOr<bool> SqliteEventLog::DropJobEvents(int64_t job_id) {
  const BackgroundLock lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginWrite(*writer_));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t last, LastDroppable());
  TRAINYARD_RETURN_IF_ERROR(writer_->Run(
      "DELETE FROM event WHERE seq IN (SELECT seq FROM event WHERE job_id = ? AND job_id != 0 AND "
      "seq <= ? AND kind != ? ORDER BY seq LIMIT ?)",
      job_id, last, v1::Event::kJobDeleted, kDroppedEvents));
  const bool more = writer_->ChangedRows() == kDroppedEvents;
  TRAINYARD_RETURN_IF_ERROR(transaction.Commit());
  return more;
}

absl::StatusOr<bool> SqliteEventLog::DropNodeEvents(int64_t before_ms) {
  const BackgroundLock lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginWrite(*writer_));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t last, LastDroppable());
  const int64_t end = std::min(last, node_events_dropped_ + kScannedEvents);
  TRAINYARD_RETURN_IF_ERROR(
      writer_->Run("DELETE FROM deletion WHERE seq > ? AND seq <= ? AND finished = 1 AND "
                   "(SELECT time_ms FROM event WHERE event.seq = deletion.seq) < ?",
                   node_events_dropped_, end, before_ms));
  TRAINYARD_RETURN_IF_ERROR(writer_->Run(
      "DELETE FROM event WHERE seq > ?1 AND seq <= ?2 AND time_ms < ?3 AND (job_id = 0 OR (kind = "
      "?4 AND NOT EXISTS (SELECT 1 FROM deletion WHERE deletion.seq = event.seq)))",
      node_events_dropped_, end, before_ms, v1::Event::kJobDeleted));
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t next_ms,
      writer_->QueryInt64("SELECT time_ms FROM event WHERE seq > ? ORDER BY seq LIMIT 1", end));
  TRAINYARD_RETURN_IF_ERROR(transaction.Commit());
  // Some scanned events may be too new to be removed. Do not advance node_events_dropped_, so that
  // the next call scans them again.
  if (end >= last || next_ms >= before_ms) return false;
  node_events_dropped_ = end;
  return true;
}

absl::StatusOr<std::optional<v1::Event>> SqliteEventLog::FindDeletion(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(
      SqliteQuery query,
      reader->Query("SELECT event.seq, payload, checksum FROM event JOIN deletion ON "
                    "event.seq = deletion.seq WHERE deletion.job_id = ?",
                    job_id));
  TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
  if (!found) return std::optional<v1::Event>();
  TRAINYARD_ASSIGN_OR_RETURN(v1::Event event, ReadEvent(query, reader->path()));
  return std::optional(std::move(event));
}

absl::StatusOr<std::vector<v1::EventEntry>> SqliteEventLog::OpenDeletions(uint64_t after) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(
      SqliteQuery query,
      reader->Query("SELECT event.seq, payload, checksum FROM deletion JOIN event ON event.seq = "
                    "deletion.seq WHERE finished = 0 AND deletion.seq > ? ORDER BY deletion.seq "
                    "LIMIT ?",
                    after, kOpenDeletionsMax));
  return ReadEntries(query, reader->path());
}

absl::StatusOr<bool> SqliteEventLog::FinishDeletion(int64_t job_id) {
  const BackgroundLock lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t left,
      writer_->QueryInt64("SELECT COUNT(*) FROM event WHERE job_id = ? AND job_id != 0 AND "
                          "kind != ?",
                          job_id, v1::Event::kJobDeleted));
  if (left > 0) return false;
  TRAINYARD_RETURN_IF_ERROR(
      writer_->Run("UPDATE deletion SET finished = 1 WHERE job_id = ?", job_id));
  return true;
}

}  // namespace trainyard::controller

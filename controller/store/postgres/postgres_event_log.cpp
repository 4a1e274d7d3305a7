#include "controller/store/postgres/postgres_event_log.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/events/event_payload.h"
#include "controller/store/postgres/event_rows.h"
#include "controller/store/postgres/leader_table.h"
#include "controller/store/postgres/postgres_snapshot.h"

namespace trainyard::controller {
namespace {

constexpr uint64_t kNewest = std::numeric_limits<int64_t>::max();

// Bounds of one statement. A message to the server has at most 1 GiB.
constexpr std::size_t kEventsAtOnce = 4096;
constexpr std::size_t kEventBytesAtOnce = 16 << 20;
// The number of events in memory besides those that Recover returns.
constexpr int kReadEventsAtOnce = 512;
// The number of events deleted per transaction. A change of the leader waits for at most one such
// transaction.
constexpr int kDroppedEvents = 256;
// The number of sequence numbers per transaction that are scanned for node events.
constexpr int64_t kScannedEvents = 4096;
constexpr int kOpenDeletionsMax = 100;

absl::StatusOr<std::vector<v1::EventEntry>> ReadEntries(absl::StatusOr<PostgresRows> rows,
                                                        const PostgresDatabase& database) {
  if (!rows.ok()) return rows.status();
  std::vector<v1::EventEntry> entries;
  for (int row = 0; row < rows->size(); ++row) {
    v1::EventEntry& entry = entries.emplace_back();
    entry.set_sequence(static_cast<uint64_t>(rows->Int64(row, 0)));
    TRAINYARD_ASSIGN_OR_RETURN(*entry.mutable_event(), ReadEventRow(*rows, row, database));
  }
  return entries;
}

// Reads the next events after recovery.last_sequence, up to `last`. Returns false if none is left.
absl::StatusOr<bool> ReadMore(int64_t last, PostgresDatabase& database,
                              EventLog::Recovery& recovery) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const PostgresRows rows,
      database.Query("SELECT seq, payload, checksum FROM event WHERE seq > $1 AND seq <= $2 "
                     "ORDER BY seq LIMIT $3",
                     recovery.last_sequence, last, kReadEventsAtOnce));
  for (int row = 0; row < rows.size(); ++row) {
    const uint64_t expected = recovery.last_sequence + 1;
    if (static_cast<uint64_t>(rows.Int64(row, 0)) != expected) {
      return DamagedLog(database, absl::StrCat("event ", expected, " is missing"));
    }
    TRAINYARD_ASSIGN_OR_RETURN(v1::Event event, ReadEventRow(rows, row, database));
    recovery.events.push_back(std::move(event));
    recovery.last_sequence = expected;
  }
  return rows.size() == kReadEventsAtOnce;
}

// The columns of several rows of the table `event`.
struct EventColumns {
  std::vector<int64_t> sequences, jobs, times, kinds, checksums;
  std::vector<std::string_view> payloads;
  std::size_t bytes = 0;

  void Add(const LogRecord& event, int64_t sequence) {
    sequences.push_back(sequence);
    jobs.push_back(event.job_id);
    times.push_back(event.time_ms);
    kinds.push_back(event.kind);
    payloads.push_back(event.payload);
    checksums.push_back(PayloadChecksum(event.payload, sequence));
    bytes += event.payload.size();
  }
  bool IsFull() const { return sequences.size() >= kEventsAtOnce || bytes >= kEventBytesAtOnce; }
};

// One statement for all rows, so that a batch needs one round trip.
absl::Status Insert(const EventColumns& rows, PostgresDatabase& database) {
  return database.Run(
      "INSERT INTO event (seq, job_id, time_ms, kind, payload, checksum) SELECT * FROM "
      "unnest($1, $2, $3, $4, $5, $6)",
      rows.sequences, rows.jobs, rows.times, rows.kinds, rows.payloads, rows.checksums);
}

// Inserts and commits the rows as the leader of `term`, in one round trip. The statement is the
// whole transaction: as BeginLeaderWrite does, it locks the row of the leader until the commit.
absl::Status InsertAsLeader(int64_t term, const EventColumns& rows, PostgresDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const PostgresRows inserted,
      database.Query(
          "WITH leads AS (SELECT 1 FROM leader WHERE term = $7 FOR KEY SHARE) INSERT "
          "INTO event (seq, job_id, time_ms, kind, payload, checksum) SELECT batch.* FROM "
          "leads, unnest($1, $2, $3, $4, $5, $6) AS batch",
          rows.sequences, rows.jobs, rows.times, rows.kinds, rows.payloads, rows.checksums, term));
  return inserted.changed() > 0 ? absl::OkStatus() : LeadershipLost(term, database);
}

// Reads the terms of the log in the database. `last` is the sequence number of its last event.
absl::Status ReadTerms(int64_t last, PostgresDatabase& database, LogTerms& terms) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const PostgresRows rows,
      database.Query("SELECT first_sequence, id FROM term ORDER BY first_sequence"));
  std::vector<LogTerm> found;
  for (int row = 0; row < rows.size(); ++row) {
    found.push_back(
        {static_cast<uint64_t>(rows.Int64(row, 0)), static_cast<uint64_t>(rows.Int64(row, 1))});
  }
  terms.Load(std::move(found), static_cast<uint64_t>(last));
  return absl::OkStatus();
}

// Returns ABORTED if the log in the database does not contain the event of `mark`, because an older
// copy has replaced the database. The row of the leader in this copy may name the same term.
absl::Status CheckCovers(const v1::LogMark& mark, PostgresDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t last, database.QueryInt64("SELECT MAX(seq) FROM event"));
  LogTerms terms;
  TRAINYARD_RETURN_IF_ERROR(ReadTerms(last, database, terms));
  if (terms.Covers(mark)) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(
      database.name(), ": event ", mark.sequence(), " of this controller is not in the log, which ",
      "ends with event ", last, ": an older copy has replaced the database; nothing was written"));
}

}  // namespace

PostgresEventLog::PostgresEventLog(const std::string& settings, int64_t leader_term)
    : leader_term_(leader_term), pool_(settings) {}

absl::StatusOr<std::unique_ptr<PostgresEventLog>> PostgresEventLog::Open(
    const std::string& settings, int64_t leader_term) {
  std::unique_ptr<PostgresEventLog> log(new PostgresEventLog(settings, leader_term));
  TRAINYARD_ASSIGN_OR_RETURN(log->writer_, PostgresDatabase::Connect(settings));
  TRAINYARD_RETURN_IF_ERROR(log->Load());
  return log;
}

absl::Status PostgresEventLog::Load() {
  // As the first transaction of this term, it waits for the last transaction of the term before.
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, BeginLeaderWrite(leader_term_, *writer_));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t last, writer_->QueryInt64("SELECT MAX(seq) FROM event"));
  last_sequence_ = static_cast<uint64_t>(last);
  TRAINYARD_RETURN_IF_ERROR(ReadTerms(last, *writer_, terms_));
  TRAINYARD_ASSIGN_OR_RETURN(archive_, PostgresJobArchive::Open(pool_, *writer_));
  return transaction.Commit();
}

uint64_t PostgresEventLog::last_sequence() const {
  const std::lock_guard lock(mutex_);
  return last_sequence_;
}

// Requires mutex_.
absl::Status PostgresEventLog::InsertEvents(const std::vector<LogRecord>& events) {
  auto sequence = static_cast<int64_t>(last_sequence_);
  EventColumns rows;
  for (const LogRecord& event : events) {
    rows.Add(event, ++sequence);
    if (!rows.IsFull()) continue;
    TRAINYARD_RETURN_IF_ERROR(Insert(rows, *writer_));
    rows = {};
  }
  return rows.sequences.empty() ? absl::OkStatus() : Insert(rows, *writer_);
}

// Requires mutex_.
absl::Status PostgresEventLog::InsertDeletions(const std::vector<LogRecord>& events,
                                               PostgresJobArchive::Changes& changes) {
  auto sequence = static_cast<int64_t>(last_sequence_);
  for (const LogRecord& event : events) {
    ++sequence;
    if (event.kind != v1::Event::kJobDeleted) continue;
    TRAINYARD_RETURN_IF_ERROR(
        writer_->Run("INSERT INTO deletion VALUES ($1, $2, 0) ON CONFLICT (job_id) DO UPDATE SET "
                     "seq = $2, finished = 0",
                     event.job_id, sequence));
    TRAINYARD_RETURN_IF_ERROR(PostgresJobArchive::Remove(event.job_id, *writer_, changes));
  }
  return absl::OkStatus();
}

// Requires mutex_.
absl::Status PostgresEventLog::WriteTermAndMarks(int64_t time_ms) {
  if (terms_.Begins(term_)) {
    TRAINYARD_RETURN_IF_ERROR(
        writer_->Run("INSERT INTO term VALUES ($1, $2) ON CONFLICT (first_sequence) DO UPDATE SET "
                     "id = $2",
                     last_sequence_ + 1, term_));
  }
  const std::map<std::string, StoreMark> due = noted_marks_.Due(time_ms);
  for (const auto& [store, mark] : due) {
    TRAINYARD_RETURN_IF_ERROR(
        writer_->Run("INSERT INTO store_mark VALUES ($1, $2, $3) ON CONFLICT (store) DO UPDATE SET "
                     "store_id = $2, writes = $3",
                     store, mark.store_id, mark.writes));
  }
  if (!due.empty()) noted_marks_.Stored(time_ms);
  return absl::OkStatus();
}

// Requires mutex_.
bool PostgresEventLog::HasOnlyEvents(const std::vector<LogRecord>& events) const {
  std::size_t bytes = 0;
  for (const LogRecord& event : events) {
    if (event.kind == v1::Event::kJobDeleted) return false;
    bytes += event.payload.size();
  }
  return events.size() <= kEventsAtOnce && bytes <= kEventBytesAtOnce && !terms_.Begins(term_) &&
         noted_marks_.Due(events.back().time_ms).empty();
}

// Requires mutex_.
absl::Status PostgresEventLog::AppendOnlyEvents(const std::vector<LogRecord>& events) {
  auto sequence = static_cast<int64_t>(last_sequence_);
  EventColumns rows;
  for (const LogRecord& event : events) rows.Add(event, ++sequence);
  TRAINYARD_RETURN_IF_ERROR(InsertAsLeader(leader_term_, rows, *writer_));
  last_sequence_ += events.size();
  terms_.Appended(term_, last_sequence_);
  return absl::OkStatus();
}

absl::Status PostgresEventLog::Append(const std::vector<LogRecord>& events,
                                      const std::vector<v1::ArchivedJob>& archived) {
  if (events.empty()) return absl::OkStatus();
  const std::lock_guard lock(mutex_);
  if (archived.empty() && HasOnlyEvents(events)) return AppendOnlyEvents(events);
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, BeginLeaderWrite(leader_term_, *writer_));
  PostgresJobArchive::Changes changes;
  TRAINYARD_RETURN_IF_ERROR(InsertEvents(events));
  TRAINYARD_RETURN_IF_ERROR(InsertDeletions(events, changes));
  TRAINYARD_RETURN_IF_ERROR(PostgresJobArchive::Insert(archived, *writer_, changes));
  TRAINYARD_RETURN_IF_ERROR(WriteTermAndMarks(events.back().time_ms));
  TRAINYARD_RETURN_IF_ERROR(transaction.Commit());
  last_sequence_ += events.size();
  terms_.Appended(term_, last_sequence_);
  archive_->CountCommitted(changes);
  return absl::OkStatus();
}

void PostgresEventLog::NoteStore(const std::string& store, const StoreMark& mark) {
  noted_marks_.Note(store, mark);
}

absl::StatusOr<std::map<std::string, StoreMark>> PostgresEventLog::StoreMarks() {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease reader, pool_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(const PostgresRows rows,
                             reader->Query("SELECT store, store_id, writes FROM store_mark"));
  std::map<std::string, StoreMark> marks;
  for (int row = 0; row < rows.size(); ++row) {
    marks[std::string(rows.Bytes(row, 0))] = {rows.Int64(row, 1), rows.Int64(row, 2)};
  }
  return marks;
}

absl::Status PostgresEventLog::TryWrite() {
  const std::lock_guard lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, BeginLeaderWrite(leader_term_, *writer_));
  // An update without a change writes a new version of the row, which tests the disk.
  TRAINYARD_RETURN_IF_ERROR(writer_->Run("UPDATE schema_version SET version = version"));
  return transaction.Commit();
}

absl::Status PostgresEventLog::WriteSnapshot(const v1::Snapshot& snapshot) {
  if (const uint64_t last = last_sequence(); snapshot.last_sequence() > last) {
    return absl::InvalidArgumentError(absl::StrCat("the snapshot contains events up to ",
                                                   snapshot.last_sequence(),
                                                   " but the log ends at ", last));
  }
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease database, pool_.Acquire());
  // A replacement of the database ends all sessions, so one check per connection is enough.
  TRAINYARD_RETURN_IF_ERROR(CheckCovers(terms_.MarkOf(snapshot.last_sequence()), *database));
  return WritePostgresSnapshot(snapshot, leader_term_, *database);
}

absl::StatusOr<EventLog::Recovery> PostgresEventLog::ReadRecovery(uint64_t last) {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease reader, pool_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, PostgresTransaction::BeginRead(*reader));
  Recovery recovery;
  TRAINYARD_ASSIGN_OR_RETURN(recovery.snapshot, ReadPostgresSnapshot(*reader));
  if (recovery.snapshot.has_value()) recovery.last_sequence = recovery.snapshot->last_sequence();
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool more,
                               ReadMore(static_cast<int64_t>(last), *reader, recovery));
    if (!more) return recovery;
  }
}

absl::StatusOr<EventLog::Recovery> PostgresEventLog::Recover() {
  TRAINYARD_ASSIGN_OR_RETURN(Recovery recovery, ReadRecovery(kNewest));
  const std::lock_guard lock(mutex_);
  if (recovery.last_sequence != last_sequence_) {
    return DamagedLog(*writer_,
                      absl::StrCat("events up to ", recovery.last_sequence,
                                   " can be read, but the log ends with event ", last_sequence_));
  }
  return recovery;
}

absl::StatusOr<EventLog::Recovery> PostgresEventLog::ReadUpTo(uint64_t last_sequence) {
  TRAINYARD_ASSIGN_OR_RETURN(Recovery recovery, ReadRecovery(last_sequence));
  if (recovery.last_sequence == last_sequence) return recovery;
  const std::lock_guard lock(mutex_);
  return DamagedLog(*writer_,
                    absl::StrCat("events up to ", recovery.last_sequence,
                                 " can be read, but the requested last event is ", last_sequence));
}

absl::StatusOr<std::vector<v1::Event>> PostgresEventLog::ReadJobEvents(int64_t job_id, int limit) {
  if (limit < 1) return absl::InvalidArgumentError("the limit of job events must be at least 1");
  if (job_id == 0) return std::vector<v1::Event>();
  TRAINYARD_ASSIGN_OR_RETURN(auto entries, ReadEventsBefore(job_id, 0, limit));
  std::vector<v1::Event> events;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    events.push_back(std::move(*entry->mutable_event()));
  }
  return events;
}

absl::StatusOr<std::vector<v1::EventEntry>> PostgresEventLog::ReadEventsBefore(int64_t job_id,
                                                                               uint64_t before,
                                                                               int limit) {
  if (limit < 1) return absl::InvalidArgumentError("the limit of events must be at least 1");
  const uint64_t end = before == 0 ? kNewest : before;
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease reader, pool_.Acquire());
  if (job_id == 0) {
    return ReadEntries(reader->Query("SELECT seq, payload, checksum FROM event WHERE seq < $1 "
                                     "ORDER BY seq DESC LIMIT $2",
                                     end, limit),
                       *reader);
  }
  return ReadEntries(reader->Query("SELECT seq, payload, checksum FROM event WHERE job_id = $1 AND "
                                   "job_id <> 0 AND seq < $2 ORDER BY seq DESC LIMIT $3",
                                   job_id, end, limit),
                     *reader);
}

absl::StatusOr<std::vector<v1::EventEntry>> PostgresEventLog::ReadEventsAfter(uint64_t after,
                                                                              int limit) {
  if (limit < 1) return absl::InvalidArgumentError("the limit of events must be at least 1");
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease reader, pool_.Acquire());
  return ReadEntries(reader->Query("SELECT seq, payload, checksum FROM event WHERE seq > $1 ORDER "
                                   "BY seq LIMIT $2",
                                   after, limit),
                     *reader);
}

absl::StatusOr<StoreUsage> PostgresEventLog::Usage() {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease reader, pool_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t bytes,
      reader->QueryInt64("SELECT SUM(pg_total_relation_size(name::regclass))::bigint FROM "
                         "unnest(ARRAY['event', 'snapshot', 'snapshot_part', 'deletion', 'term', "
                         "'archived_job', 'archived_record', 'archived_count']) AS name"));
  return StoreUsage{.used_bytes = bytes, .free_bytes = 0};
}

absl::StatusOr<int64_t> PostgresEventLog::NextJob(int64_t after) {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease reader, pool_.Acquire());
  return reader->QueryInt64("SELECT MIN(job_id) FROM event WHERE job_id > $1 AND job_id <> 0",
                            after);
}

absl::StatusOr<int64_t> PostgresEventLog::JobBytes(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease reader, pool_.Acquire());
  return reader->QueryInt64(
      "SELECT SUM(length(payload))::bigint FROM event WHERE job_id = $1 AND job_id <> 0", job_id);
}

absl::StatusOr<int64_t> PostgresEventLog::LastDroppable(PostgresDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t held,
                             database.QueryInt64("SELECT MAX(last_sequence) FROM snapshot"));
  // Never remove the newest event, because it marks the end of the log.
  return std::min(held, static_cast<int64_t>(last_sequence()) - 1);
}

absl::StatusOr<bool> PostgresEventLog::DropJobEvents(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease database, pool_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, BeginLeaderWrite(leader_term_, *database));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t last, LastDroppable(*database));
  TRAINYARD_ASSIGN_OR_RETURN(
      const PostgresRows dropped,
      database->Query("DELETE FROM event WHERE seq IN (SELECT seq FROM event WHERE job_id = $1 AND "
                      "job_id <> 0 AND seq <= $2 AND kind <> $3 ORDER BY seq LIMIT $4)",
                      job_id, last, v1::Event::kJobDeleted, kDroppedEvents));
  TRAINYARD_RETURN_IF_ERROR(transaction.Commit());
  return dropped.changed() == kDroppedEvents;
}

absl::StatusOr<bool> PostgresEventLog::DropNodeEvents(int64_t before_ms) {
  const std::lock_guard lock(drop_mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease database, pool_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, BeginLeaderWrite(leader_term_, *database));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t last, LastDroppable(*database));
  const int64_t end = std::min(last, node_events_dropped_ + kScannedEvents);
  TRAINYARD_RETURN_IF_ERROR(
      database->Run("DELETE FROM deletion WHERE seq > $1 AND seq <= $2 AND finished = 1 AND "
                    "(SELECT time_ms FROM event WHERE event.seq = deletion.seq) < $3",
                    node_events_dropped_, end, before_ms));
  TRAINYARD_RETURN_IF_ERROR(database->Run(
      "DELETE FROM event WHERE seq > $1 AND seq <= $2 AND time_ms < $3 AND (job_id = 0 OR (kind = "
      "$4 AND NOT EXISTS (SELECT 1 FROM deletion WHERE deletion.seq = event.seq)))",
      node_events_dropped_, end, before_ms, v1::Event::kJobDeleted));
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t next_ms,
      database->QueryInt64("SELECT time_ms FROM event WHERE seq > $1 ORDER BY seq LIMIT 1", end));
  TRAINYARD_RETURN_IF_ERROR(transaction.Commit());
  // Some scanned events may be too new to be removed. Do not advance node_events_dropped_, so that
  // the next call scans them again.
  if (end >= last || next_ms >= before_ms) return false;
  node_events_dropped_ = end;
  return true;
}

absl::StatusOr<std::optional<v1::Event>> PostgresEventLog::FindDeletion(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease reader, pool_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(
      const PostgresRows rows,
      reader->Query("SELECT event.seq, payload, checksum FROM event JOIN deletion ON event.seq = "
                    "deletion.seq WHERE deletion.job_id = $1",
                    job_id));
  if (rows.size() == 0) return std::optional<v1::Event>();
  TRAINYARD_ASSIGN_OR_RETURN(v1::Event event, ReadEventRow(rows, 0, *reader));
  return std::optional(std::move(event));
}

absl::StatusOr<std::vector<v1::EventEntry>> PostgresEventLog::OpenDeletions(uint64_t after) {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease reader, pool_.Acquire());
  return ReadEntries(
      reader->Query("SELECT event.seq, payload, checksum FROM deletion JOIN event ON event.seq = "
                    "deletion.seq WHERE finished = 0 AND deletion.seq > $1 ORDER BY deletion.seq "
                    "LIMIT $2",
                    after, kOpenDeletionsMax),
      *reader);
}

absl::StatusOr<bool> PostgresEventLog::FinishDeletion(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease database, pool_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, BeginLeaderWrite(leader_term_, *database));
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t left,
      database->QueryInt64("SELECT COUNT(*) FROM event WHERE job_id = $1 AND job_id <> 0 AND "
                           "kind <> $2",
                           job_id, v1::Event::kJobDeleted));
  if (left > 0) return false;
  TRAINYARD_RETURN_IF_ERROR(
      database->Run("UPDATE deletion SET finished = 1 WHERE job_id = $1", job_id));
  TRAINYARD_RETURN_IF_ERROR(transaction.Commit());
  return true;
}

}  // namespace trainyard::controller

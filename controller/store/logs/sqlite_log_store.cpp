#include "controller/store/logs/sqlite_log_store.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/logs/log_merge.h"
#include "controller/store/logs/log_segment.h"
#include "controller/store/sqlite/migrations.h"
#include "controller/store/sqlite/sqlite_drop.h"
#include "controller/store/sqlite/sqlite_space.h"
#include "controller/store/support/checksum.h"
#include "controller/store/support/stream_offsets.h"

namespace trainyard::controller {
namespace {

const std::array kLogMigrations = {
    Migration{R"(
      CREATE TABLE stream (
        id INTEGER PRIMARY KEY,
        job_id INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        rank INTEGER NOT NULL,
        end_offset INTEGER NOT NULL,
        packed_offset INTEGER NOT NULL,  -- Before it lie merged segments only.
        line_begin INTEGER NOT NULL,     -- Of the unfinished line, or part of one, at the end.
        last_time_ms INTEGER NOT NULL,
        UNIQUE (job_id, epoch, rank)
      ) STRICT;
      CREATE TABLE segment (
        id INTEGER PRIMARY KEY,
        stream_id INTEGER NOT NULL,
        begin_offset INTEGER NOT NULL,
        length INTEGER NOT NULL,
        first_time_ms INTEGER NOT NULL,
        last_time_ms INTEGER NOT NULL,
        block BLOB NOT NULL,
        UNIQUE (stream_id, begin_offset)
      ) STRICT;
    )"},
    Migration{R"(
      ALTER TABLE stream RENAME COLUMN epoch TO attempt;
    )"},
    Migration{kMarkSchema},
};

// The number of segments that one call of Reclaim removes. These segments contain at most 16 MiB of
// output; removing them takes a few milliseconds.
constexpr int kReclaimedSegments = 64;

struct StreamRow {
  int64_t id = 0;
  int64_t end_offset = 0;
  int64_t packed_offset = 0;
  int64_t line_begin = 0;
  int64_t last_time_ms = 0;
};

// Reads a segment from a row with the columns begin_offset, length, block.
absl::StatusOr<LogSegment> ReadSegment(const SqliteQuery& query, int64_t stream_id,
                                       const std::string& path) {
  const int64_t begin = query.Int64(0);
  auto segment = DecodeLogSegment(query.Bytes(2), begin, HashOf({stream_id, begin}));
  if (segment.ok() && segment->end() - begin == query.Int64(1)) return segment;
  return absl::DataLossError(absl::StrCat(path, ": the log segment at byte ", begin, " of stream ",
                                          stream_id, " is damaged; restore a backup"));
}

class SqliteSegmentSource : public SegmentSource {
 public:
  SqliteSegmentSource(SqliteDatabase& database, int64_t stream_id, const LogQuery& query)
      : database_(database), stream_id_(stream_id), abandoned_(query.abandoned) {}

  absl::StatusOr<std::optional<LogSegment>> SegmentAt(int64_t offset) const override {
    if (abandoned_ != nullptr && abandoned_->load()) {
      return absl::CancelledError("the request for these lines was canceled");
    }
    TRAINYARD_ASSIGN_OR_RETURN(
        SqliteQuery query,
        database_.Query("SELECT begin_offset, length, block FROM segment WHERE stream_id = ? AND "
                        "begin_offset <= ? ORDER BY begin_offset DESC LIMIT 1",
                        stream_id_, offset));
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
    if (!found || query.Int64(0) + query.Int64(1) <= offset) return std::optional<LogSegment>();
    TRAINYARD_ASSIGN_OR_RETURN(LogSegment segment,
                               ReadSegment(query, stream_id_, database_.path()));
    return std::optional(std::move(segment));
  }

  absl::StatusOr<int64_t> OffsetAtTime(int64_t time_ms, int64_t end) const override {
    // Binary search. The first segment with a byte that was read at or after `time_ms` starts in
    // [low, high].
    int64_t low = 0, high = end;
    while (low < high) {
      TRAINYARD_ASSIGN_OR_RETURN(
          SqliteQuery query,
          database_.Query("SELECT begin_offset, length, last_time_ms FROM segment WHERE "
                          "stream_id = ? AND begin_offset <= ? ORDER BY begin_offset DESC LIMIT 1",
                          stream_id_, low + (high - low) / 2));
      TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
      if (!found) return end;
      const int64_t begin = query.Int64(0);
      if (query.Int64(2) >= time_ms) {
        high = std::min(high, begin);
      } else {
        low = begin + query.Int64(1);
      }
    }
    if (low >= end) return end;
    TRAINYARD_ASSIGN_OR_RETURN(const auto segment, SegmentAt(low));
    return segment.has_value() ? std::min(end, segment->OffsetAtTime(time_ms)) : end;
  }

 private:
  SqliteDatabase& database_;
  const int64_t stream_id_;
  const std::atomic<bool>* abandoned_;
};

absl::StatusOr<StreamRow> FindStream(SqliteDatabase& database, const StreamKey& key) {
  TRAINYARD_ASSIGN_OR_RETURN(
      SqliteQuery query,
      database.Query("SELECT id, end_offset, packed_offset, line_begin, last_time_ms FROM stream "
                     "WHERE job_id = ? AND attempt = ? AND rank = ?",
                     key.job_id, key.attempt, key.rank));
  TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
  if (!found) return StreamRow();
  return StreamRow{query.Int64(0), query.Int64(1), query.Int64(2), query.Int64(3), query.Int64(4)};
}

absl::StatusOr<StreamRow> FindOrAddStream(SqliteDatabase& database, const StreamKey& key) {
  TRAINYARD_ASSIGN_OR_RETURN(StreamRow row, FindStream(database, key));
  if (row.id != 0) return row;
  TRAINYARD_ASSIGN_OR_RETURN(
      row.id, database.QueryInt64("INSERT INTO stream (job_id, attempt, rank, end_offset, "
                                  "packed_offset, line_begin, last_time_ms) "
                                  "VALUES (?, ?, ?, 0, 0, 0, 0) RETURNING id",
                                  key.job_id, key.attempt, key.rank));
  return row;
}

absl::Status SaveStream(SqliteDatabase& database, const StreamRow& row) {
  return database.Run(
      "UPDATE stream SET end_offset = ?, packed_offset = ?, line_begin = ?, last_time_ms = ? "
      "WHERE id = ?",
      row.end_offset, row.packed_offset, row.line_begin, row.last_time_ms, row.id);
}

absl::Status WriteSegment(SqliteDatabase& database, int64_t stream_id, const LogSegment& segment) {
  const std::string block = EncodeLogSegment(segment, HashOf({stream_id, segment.begin}));
  return database.Run(
      "INSERT INTO segment (stream_id, begin_offset, length, first_time_ms, last_time_ms, block) "
      "VALUES (?, ?, ?, ?, ?, ?)",
      stream_id, segment.begin, segment.bytes.size(), segment.marks.front().time_ms,
      segment.marks.back().time_ms, SqliteBlob{block});
}

// Returns one segment that contains the unmerged stored segments and the fresh segment.
absl::StatusOr<LogSegment> JoinUnpacked(SqliteDatabase& database, const StreamRow& row,
                                        const LogSegment& fresh) {
  LogSegment joined{.begin = row.packed_offset};
  TRAINYARD_ASSIGN_OR_RETURN(
      SqliteQuery query,
      database.Query("SELECT begin_offset, length, block FROM segment WHERE stream_id = ? AND "
                     "begin_offset >= ? ORDER BY begin_offset",
                     row.id, row.packed_offset));
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
    if (!found) break;
    TRAINYARD_ASSIGN_OR_RETURN(const LogSegment segment,
                               ReadSegment(query, row.id, database.path()));
    joined.Append(segment);
  }
  joined.Append(fresh);
  return joined;
}

// Merges the small segments and `fresh` into segments of kPackedBytes. The bytes that remain are
// stored as a small segment.
absl::Status Pack(SqliteDatabase& database, StreamRow& row, const LogSegment& fresh) {
  TRAINYARD_ASSIGN_OR_RETURN(const LogSegment joined, JoinUnpacked(database, row, fresh));
  TRAINYARD_RETURN_IF_ERROR(database.Run(
      "DELETE FROM segment WHERE stream_id = ? AND begin_offset >= ?", row.id, row.packed_offset));
  int64_t begin = joined.begin;
  for (; joined.end() - begin >= SqliteLogStore::kPackedBytes;
       begin += SqliteLogStore::kPackedBytes) {
    TRAINYARD_RETURN_IF_ERROR(
        WriteSegment(database, row.id, joined.Slice(begin, begin + SqliteLogStore::kPackedBytes)));
  }
  row.packed_offset = begin;
  if (begin == joined.end()) return absl::OkStatus();
  return WriteSegment(database, row.id, joined.Slice(begin, joined.end()));
}

// Returns the bytes of the batch that are not stored yet. The time of these bytes is raised if
// necessary, because times must never decrease within a stream (log_merge.h).
LogSegment TakeFresh(const LogBatch& batch, StreamRow& row) {
  const auto skipped = static_cast<std::size_t>(row.end_offset - batch.begin_offset);
  row.last_time_ms = std::max(row.last_time_ms, batch.time_ms);
  LogSegment fresh{.begin = row.end_offset, .bytes = batch.data.substr(skipped)};
  fresh.marks.push_back({fresh.begin, row.last_time_ms});
  LineSplitter splitter(row.line_begin);
  fresh.splits = splitter.Add(fresh.begin, fresh.bytes);
  row.line_begin = splitter.line_begin();
  row.end_offset = fresh.end();
  return fresh;
}

absl::Status AppendBatch(SqliteDatabase& database, const LogBatch& batch) {
  if (batch.stream.kind != v1::STREAM_KIND_LOG) {
    return absl::InvalidArgumentError("the log store accepts only output of ranks");
  }
  TRAINYARD_ASSIGN_OR_RETURN(StreamRow row, FindStream(database, batch.stream));
  const int64_t end = batch.begin_offset + static_cast<int64_t>(batch.data.size());
  TRAINYARD_RETURN_IF_ERROR(
      CheckBatchRange(batch.stream, {batch.begin_offset, end}, row.end_offset));
  if (end <= row.end_offset) return absl::OkStatus();
  TRAINYARD_ASSIGN_OR_RETURN(row, FindOrAddStream(database, batch.stream));
  const LogSegment fresh = TakeFresh(batch, row);
  if (row.end_offset - row.packed_offset < SqliteLogStore::kPackedBytes) {
    TRAINYARD_RETURN_IF_ERROR(WriteSegment(database, row.id, fresh));
  } else {
    TRAINYARD_RETURN_IF_ERROR(Pack(database, row, fresh));
  }
  return SaveStream(database, row);
}

// Removes segments of dropped jobs. The streams of these jobs have a negative job id, so that no
// query finds them. A stream id is not used again before its segments are removed.
absl::StatusOr<bool> ReclaimSegments(SqliteDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginWrite(database));
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t stream_id,
      database.QueryInt64("SELECT id FROM stream WHERE job_id < 0 ORDER BY job_id LIMIT 1"));
  if (stream_id == 0) return false;
  TRAINYARD_RETURN_IF_ERROR(database.Run(
      "DELETE FROM segment WHERE id IN (SELECT id FROM segment WHERE stream_id = ? LIMIT ?)",
      stream_id, kReclaimedSegments));
  if (database.ChangedRows() < kReclaimedSegments) {
    TRAINYARD_RETURN_IF_ERROR(database.Run("DELETE FROM stream WHERE id = ?", stream_id));
  }
  TRAINYARD_RETURN_IF_ERROR(transaction.Commit());
  return true;
}

// Returns the streams that the query includes, sorted by key.
absl::StatusOr<std::vector<LogStream>> FindStreams(SqliteDatabase& database,
                                                   const LogQuery& log_query) {
  TRAINYARD_ASSIGN_OR_RETURN(
      SqliteQuery query,
      database.Query("SELECT id, attempt, rank, end_offset FROM stream WHERE job_id = ? "
                     "ORDER BY attempt, rank",
                     log_query.job_id));
  std::vector<LogStream> streams;
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
    if (!found) return streams;
    const StreamKey key{log_query.job_id, query.Int64(1), static_cast<int>(query.Int64(2)),
                        v1::STREAM_KIND_LOG};
    if (!Wants(log_query, key)) continue;
    streams.push_back({key, query.Int64(3),
                       std::make_unique<SqliteSegmentSource>(database, query.Int64(0), log_query)});
  }
}

}  // namespace

SqliteLogStore::SqliteLogStore(std::unique_ptr<SqliteDatabase> writer,
                               std::unique_ptr<MarkTable> mark)
    : writer_(std::move(writer)), mark_(std::move(mark)), readers_(writer_->path()) {}

absl::StatusOr<std::unique_ptr<SqliteLogStore>> SqliteLogStore::Open(const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(auto writer,
                             SqliteDatabase::Open(path, SqliteDatabase::Mode::kWriter));
  TRAINYARD_RETURN_IF_ERROR(Migrate(*writer, kLogMigrations));
  TRAINYARD_ASSIGN_OR_RETURN(auto mark, MarkTable::Open(*writer));
  return std::unique_ptr<SqliteLogStore>(new SqliteLogStore(std::move(writer), std::move(mark)));
}

absl::Status SqliteLogStore::Append(const std::vector<LogBatch>& batches) {
  std::lock_guard lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginWrite(*writer_));
  for (const LogBatch& batch : batches) {
    TRAINYARD_RETURN_IF_ERROR(AppendBatch(*writer_, batch));
  }
  TRAINYARD_RETURN_IF_ERROR(mark_->Write(*writer_));
  TRAINYARD_RETURN_IF_ERROR(transaction.Commit());
  mark_->Committed();
  return absl::OkStatus();
}

absl::StatusOr<int64_t> SqliteLogStore::StoredOffset(const StreamKey& stream) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(const StreamRow row, FindStream(*reader, stream));
  return row.end_offset;
}

absl::Status SqliteLogStore::Read(const LogQuery& query, bool include_partial, LogCursor& cursor,
                                  const std::function<bool(std::vector<v1::LogLine>)>& emit) {
  TRAINYARD_RETURN_IF_ERROR(CheckLogQuery(query));
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(auto streams, FindStreams(*reader, query));
  // Do not use a transaction: `emit` may take long, and the write-ahead log cannot be truncated
  // while a read transaction is open.
  return LogMerge(query, std::move(streams), include_partial, cursor).Read(emit);
}

absl::StatusOr<LogPage> SqliteLogStore::ReadPage(const LogPageQuery& query, bool include_partial) {
  TRAINYARD_RETURN_IF_ERROR(CheckLogQuery(query.lines));
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(const auto streams, FindStreams(*reader, query.lines));
  return ReadLogPage(query, streams, include_partial);
}

absl::StatusOr<StoreUsage> SqliteLogStore::Usage() {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return ReadUsage(*reader);
}

absl::StatusOr<int64_t> SqliteLogStore::NextJob(int64_t after) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return reader->QueryInt64("SELECT MIN(job_id) FROM stream WHERE job_id > ?", after);
}

absl::StatusOr<int64_t> SqliteLogStore::JobBytes(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return reader->QueryInt64(
      "SELECT SUM(LENGTH(block)) FROM segment WHERE stream_id IN "
      "(SELECT id FROM stream WHERE job_id = ?)",
      job_id);
}

absl::Status SqliteLogStore::DropJob(int64_t job_id) {
  std::lock_guard lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginWrite(*writer_));
  TRAINYARD_RETURN_IF_ERROR(HideJob("stream", job_id, *writer_));
  return transaction.Commit();
}

absl::StatusOr<bool> SqliteLogStore::Reclaim() {
  std::lock_guard lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(const bool reclaimed, ReclaimSegments(*writer_));
  if (reclaimed) return true;
  return ReturnFreePages(*writer_);
}

void SqliteLogStore::NoteLogMark(const v1::LogMark& mark) {
  std::lock_guard lock(mutex_);
  mark_->Note(mark);
}

absl::Status SqliteLogStore::WriteLogMark() {
  std::lock_guard lock(mutex_);
  return mark_->WriteIfDue(*writer_);
}

absl::StatusOr<v1::LogMark> SqliteLogStore::ReadLogMark() {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return MarkTable::Read(*reader);
}

}  // namespace trainyard::controller

#include "controller/store/logs/sql_log_store.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "controller/store/logs/log_merge.h"
#include "controller/store/logs/stored_segments.h"
#include "controller/store/sql/hidden_rows.h"
#include "controller/store/support/stream_offsets.h"

namespace trainyard::controller {
namespace {

// The number of segments that one call of Reclaim removes. These segments contain at most 16 MiB of
// output; removing them takes a few milliseconds.
constexpr int kReclaimedSegments = 64;

// Limit on the bytes of new segments in memory besides the batches of an append.
constexpr std::size_t kUnwrittenBytesMax = std::size_t{4} << 20;

struct StreamRow {
  int64_t id = 0;
  int64_t end_offset = 0;
  int64_t packed_offset = 0;
  int64_t line_begin = 0;
  int64_t last_time_ms = 0;
};

constexpr char kFindStream[] =
    "SELECT id, end_offset, packed_offset, line_begin, last_time_ms FROM log_stream WHERE job_id = "
    "$1 AND attempt = $2 AND rank = $3";

absl::StatusOr<StreamRow> ReadStreamRow(SqlRows& rows) {
  TRAINYARD_ASSIGN_OR_RETURN(const bool found, rows.Next());
  if (!found) return StreamRow();
  return StreamRow{rows.Int64(0), rows.Int64(1), rows.Int64(2), rows.Int64(3), rows.Int64(4)};
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

// Stores the batches of one Append within a transaction. Statements for different streams are sent
// together.
class BatchWriter {
 public:
  explicit BatchWriter(SqlDatabase& database) : database_(database) {}

  absl::Status Write(const std::vector<LogBatch>& batches) {
    TRAINYARD_RETURN_IF_ERROR(FindStreams(batches));
    for (const LogBatch& batch : batches) TRAINYARD_RETURN_IF_ERROR(Add(batch));
    TRAINYARD_RETURN_IF_ERROR(WriteSegments(database_, std::exchange(unwritten_, {})));
    return SaveStreams();
  }

 private:
  absl::Status FindStreams(const std::vector<LogBatch>& batches) {
    for (const LogBatch& batch : batches) {
      if (batch.stream.kind != v1::STREAM_KIND_LOG) {
        return absl::InvalidArgumentError("the log store accepts only output of ranks");
      }
      streams_.emplace(batch.stream, StreamRow());
    }
    std::vector<SqlArguments> keys;
    std::vector<StreamRow*> found;
    for (auto& [key, row] : streams_) {
      keys.push_back(MakeSqlArguments(key.job_id, key.attempt, key.rank));
      found.push_back(&row);
    }
    return database_.RunForEach(kFindStream, keys,
                                [&](std::size_t i, SqlRows& rows) -> absl::Status {
                                  TRAINYARD_ASSIGN_OR_RETURN(*found[i], ReadStreamRow(rows));
                                  return absl::OkStatus();
                                });
  }

  absl::Status Add(const LogBatch& batch) {
    StreamRow& row = streams_.at(batch.stream);
    const int64_t end = batch.begin_offset + static_cast<int64_t>(batch.data.size());
    TRAINYARD_RETURN_IF_ERROR(
        CheckBatchRange(batch.stream, {batch.begin_offset, end}, row.end_offset));
    if (end <= row.end_offset) return absl::OkStatus();
    if (row.id == 0) TRAINYARD_RETURN_IF_ERROR(AddStream(batch.stream, row));
    changed_[row.id] = &row;
    LogSegment fresh = TakeFresh(batch, row);
    unwritten_bytes_ += fresh.bytes.size();
    const bool packs = row.end_offset - row.packed_offset >= kPackedLogBytes;
    if (!packs) unwritten_.push_back({row.id, std::move(fresh)});
    if (packs || unwritten_bytes_ > kUnwrittenBytesMax) {
      unwritten_bytes_ = 0;
      TRAINYARD_RETURN_IF_ERROR(WriteSegments(database_, std::exchange(unwritten_, {})));
    }
    if (!packs) return absl::OkStatus();
    TRAINYARD_ASSIGN_OR_RETURN(row.packed_offset,
                               PackSegments(database_, row.id, row.packed_offset, fresh));
    return absl::OkStatus();
  }

  absl::Status AddStream(const StreamKey& key, StreamRow& row) {
    TRAINYARD_ASSIGN_OR_RETURN(
        row.id, database_.QueryInt64("INSERT INTO log_stream (job_id, attempt, rank, end_offset, "
                                     "packed_offset, line_begin, last_time_ms) "
                                     "VALUES ($1, $2, $3, 0, 0, 0, 0) RETURNING id",
                                     key.job_id, key.attempt, key.rank));
    return absl::OkStatus();
  }

  absl::Status SaveStreams() {
    std::vector<SqlArguments> rows;
    for (const auto& [id, row] : changed_) {
      rows.push_back(MakeSqlArguments(row->end_offset, row->packed_offset, row->line_begin,
                                      row->last_time_ms, id));
    }
    return database_.RunForEach(
        "UPDATE log_stream SET end_offset = $1, packed_offset = $2, line_begin = $3, last_time_ms "
        "= $4 WHERE id = $5",
        rows, nullptr);
  }

  SqlDatabase& database_;
  std::map<StreamKey, StreamRow> streams_;
  std::map<int64_t, const StreamRow*> changed_;  // By stream id.
  std::vector<StoredSegment> unwritten_;
  std::size_t unwritten_bytes_ = 0;
};

// Removes segments of dropped jobs. The streams of these jobs have a negative job id, so that no
// query finds them. A stream id is not used again before its segments are removed.
absl::StatusOr<bool> ReclaimSegments(SqlConnections& connections) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto writer, connections.BeginWrite());
  SqlDatabase& database = **writer;
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t stream_id,
      database.QueryInt64("SELECT id FROM log_stream WHERE job_id < 0 ORDER BY job_id LIMIT 1"));
  if (stream_id == 0) return false;
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t removed,
      database.Change("DELETE FROM segment WHERE id IN (SELECT id FROM segment WHERE stream_id = "
                      "$1 LIMIT $2)",
                      stream_id, kReclaimedSegments));
  if (removed < kReclaimedSegments) {
    TRAINYARD_RETURN_IF_ERROR(database.Run("DELETE FROM log_stream WHERE id = $1", stream_id));
  }
  TRAINYARD_RETURN_IF_ERROR(writer->Commit());
  return true;
}

// Returns the streams that the query includes, sorted by key.
absl::StatusOr<std::vector<LogStream>> FindStreams(SqlDatabase& database,
                                                   const LogQuery& log_query) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const auto rows,
      database.Query("SELECT id, attempt, rank, end_offset FROM log_stream WHERE job_id = $1 "
                     "ORDER BY attempt, rank",
                     log_query.job_id));
  std::vector<LogStream> streams;
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, rows->Next());
    if (!found) return streams;
    const StreamKey key{log_query.job_id, rows->Int64(1), static_cast<int>(rows->Int64(2)),
                        v1::STREAM_KIND_LOG};
    if (!Wants(log_query, key)) continue;
    streams.push_back(
        {key, rows->Int64(3), MakeSegmentSource(database, rows->Int64(0), log_query.abandoned)});
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqlLogStore>> SqlLogStore::Open(
    std::unique_ptr<SqlConnections> connections) {
  TRAINYARD_ASSIGN_OR_RETURN(auto mark, MarkTable::Open(*connections));
  return absl::WrapUnique(new SqlLogStore(std::move(connections), std::move(mark)));
}

absl::Status SqlLogStore::Append(const std::vector<LogBatch>& batches) {
  std::lock_guard lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(const auto writer, connections_->BeginWrite());
  TRAINYARD_RETURN_IF_ERROR(BatchWriter(**writer).Write(batches));
  TRAINYARD_RETURN_IF_ERROR(mark_->Write(**writer));
  TRAINYARD_RETURN_IF_ERROR(writer->Commit());
  mark_->Committed();
  return absl::OkStatus();
}

absl::StatusOr<int64_t> SqlLogStore::StoredOffset(const StreamKey& stream) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto reader, connections_->BeginRead(ReadView::kEachStatement));
  TRAINYARD_ASSIGN_OR_RETURN(
      const auto rows, (*reader)->Query(kFindStream, stream.job_id, stream.attempt, stream.rank));
  TRAINYARD_ASSIGN_OR_RETURN(const StreamRow row, ReadStreamRow(*rows));
  return row.end_offset;
}

absl::Status SqlLogStore::Read(const LogQuery& query, bool include_partial, LogCursor& cursor,
                               const std::function<bool(std::vector<v1::LogLine>)>& emit) {
  TRAINYARD_RETURN_IF_ERROR(CheckLogQuery(query));
  // Do not use a transaction: `emit` may take long. Meanwhile, SQLite could not truncate its
  // write-ahead log, and PostgreSQL would end the session.
  TRAINYARD_ASSIGN_OR_RETURN(const auto reader, connections_->BeginRead(ReadView::kEachStatement));
  TRAINYARD_ASSIGN_OR_RETURN(auto streams, FindStreams(**reader, query));
  return LogMerge(query, std::move(streams), include_partial, cursor).Read(emit);
}

absl::StatusOr<LogPage> SqlLogStore::ReadPage(const LogPageQuery& query, bool include_partial) {
  TRAINYARD_RETURN_IF_ERROR(CheckLogQuery(query.lines));
  TRAINYARD_ASSIGN_OR_RETURN(const auto reader, connections_->BeginRead(ReadView::kEachStatement));
  TRAINYARD_ASSIGN_OR_RETURN(const auto streams, FindStreams(**reader, query.lines));
  return ReadLogPage(query, streams, include_partial);
}

absl::StatusOr<StoreUsage> SqlLogStore::Usage() { return connections_->Usage(); }

absl::StatusOr<int64_t> SqlLogStore::NextJob(int64_t after) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto reader, connections_->BeginRead(ReadView::kEachStatement));
  return (*reader)->QueryInt64("SELECT MIN(job_id) FROM log_stream WHERE job_id > $1", after);
}

absl::StatusOr<int64_t> SqlLogStore::JobBytes(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto reader, connections_->BeginRead(ReadView::kEachStatement));
  return (*reader)->QueryInt64(
      "SELECT SUM(LENGTH(block)) FROM segment WHERE stream_id IN "
      "(SELECT id FROM log_stream WHERE job_id = $1)",
      job_id);
}

absl::Status SqlLogStore::DropJob(int64_t job_id) {
  std::lock_guard lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(const auto writer, connections_->BeginWrite());
  TRAINYARD_RETURN_IF_ERROR(HideJob("log_stream", job_id, **writer));
  return writer->Commit();
}

absl::StatusOr<bool> SqlLogStore::Reclaim() {
  std::lock_guard lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(const bool reclaimed, ReclaimSegments(*connections_));
  if (reclaimed) return true;
  return connections_->ReturnFreeSpace();
}

void SqlLogStore::NoteLogMark(const v1::LogMark& mark) {
  std::lock_guard lock(mutex_);
  mark_->Note(mark);
}

absl::Status SqlLogStore::WriteLogMark() {
  std::lock_guard lock(mutex_);
  return mark_->WriteIfDue(*connections_);
}

absl::StatusOr<v1::LogMark> SqlLogStore::ReadLogMark() { return MarkTable::Read(*connections_); }

}  // namespace trainyard::controller

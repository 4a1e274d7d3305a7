#include "controller/store/metrics/sql_metric_store.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "controller/store/metrics/data_report_table.h"
#include "controller/store/metrics/data_set_table.h"
#include "controller/store/metrics/expert_table.h"
#include "controller/store/metrics/metric_tables.h"
#include "controller/store/metrics/series_reader.h"
#include "controller/store/sql/hidden_rows.h"
#include "controller/store/support/stream_offsets.h"
#include "proto/contract/attempt_key.h"

namespace trainyard::controller {
namespace {

// The number of chunks that one call of Reclaim removes. Removing them takes a few milliseconds.
constexpr int kReclaimedChunks = 256;

// The points of one Append, by series key. PointsByAttempt contains them for each attempt.
using PointsByKey = std::unordered_map<std::string_view, std::vector<SeriesPoint>>;
using PointsByAttempt = std::map<AttemptKey, PointsByKey>;
using StreamOffsets = std::map<StreamKey, int64_t>;

constexpr char kReadOffset[] =
    "SELECT stored_offset FROM stream WHERE job_id = $1 AND attempt = $2 AND rank = $3 AND kind = "
    "$4";

// Returns the stored offset of the stream of each batch.
absl::StatusOr<StreamOffsets> ReadOffsets(SqlDatabase& database,
                                          const std::vector<MetricBatch>& batches) {
  StreamOffsets offsets;
  for (const MetricBatch& batch : batches) offsets.emplace(batch.stream, 0);
  std::vector<SqlArguments> keys;
  std::vector<int64_t*> stored;
  for (auto& [stream, offset] : offsets) {
    keys.push_back(MakeSqlArguments(stream.job_id, stream.attempt, stream.rank, stream.kind));
    stored.push_back(&offset);
  }
  TRAINYARD_RETURN_IF_ERROR(
      database.RunForEach(kReadOffset, keys, [&](std::size_t i, SqlRows& rows) -> absl::Status {
        TRAINYARD_ASSIGN_OR_RETURN(const bool found, rows.Next());
        if (found) *stored[i] = rows.Int64(0);
        return absl::OkStatus();
      }));
  return offsets;
}

absl::Status WriteOffsets(SqlDatabase& database, const StreamOffsets& offsets) {
  std::vector<SqlArguments> rows;
  for (const auto& [stream, offset] : offsets) {
    rows.push_back(
        MakeSqlArguments(stream.job_id, stream.attempt, stream.rank, stream.kind, offset));
  }
  return database.RunForEach(
      "INSERT INTO stream VALUES ($1, $2, $3, $4, $5) ON CONFLICT (job_id, attempt, rank, kind) "
      "DO UPDATE SET stored_offset = $5",
      rows, nullptr);
}

// Advances the offsets of the streams past the batches. Returns the batches that are not completely
// stored.
absl::StatusOr<std::vector<const MetricBatch*>> AdvanceOffsets(
    SqlDatabase& database, const std::vector<MetricBatch>& batches) {
  TRAINYARD_ASSIGN_OR_RETURN(StreamOffsets stored, ReadOffsets(database, batches));
  std::vector<const MetricBatch*> fresh;
  StreamOffsets advanced;
  for (const MetricBatch& batch : batches) {
    int64_t& offset = stored[batch.stream];
    TRAINYARD_RETURN_IF_ERROR(
        CheckBatchRange(batch.stream, {batch.begin_offset, batch.end_offset}, offset));
    if (batch.end_offset <= offset) continue;
    offset = batch.end_offset;
    advanced[batch.stream] = offset;
    fresh.push_back(&batch);
  }
  TRAINYARD_RETURN_IF_ERROR(WriteOffsets(database, advanced));
  return fresh;
}

// Stores the records of experts and the reports of all batches that are not completely stored, and
// returns the points of these batches. A partly stored batch is added as a whole; its points and
// records replace the stored points and records.
absl::StatusOr<PointsByAttempt> TakeNewBatches(SqlDatabase& database,
                                               const std::vector<MetricBatch>& batches) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto fresh, AdvanceOffsets(database, batches));
  PointsByAttempt attempts;
  for (const MetricBatch* batch : fresh) {
    for (const StoredExperts& experts : batch->experts) {
      TRAINYARD_RETURN_IF_ERROR(AddExperts(database, batch->stream.job_id, experts));
    }
    for (const StoredReportPart& part : batch->reports) {
      TRAINYARD_RETURN_IF_ERROR(AddReportPart(database, batch->stream.job_id, part));
    }
    if (batch->points.empty()) continue;
    PointsByKey& keys = attempts[{batch->stream.job_id, batch->stream.attempt}];
    for (const MetricPoint& point : batch->points) {
      keys[point.key].push_back({point.step, point.time_ms, point.value});
    }
  }
  return attempts;
}

// Replaces the keys of the points by series ids.
absl::StatusOr<std::vector<NewPoints>> Identify(SqlDatabase& database, PointsByAttempt& attempts) {
  std::map<std::pair<int64_t, std::string_view>, int64_t> ids;
  for (const auto& [attempt, keys] : attempts) {
    for (const auto& [key, points] : keys) ids.emplace(std::pair(attempt.job_id, key), 0);
  }
  std::vector<SeriesName> names;
  for (const auto& [name, id] : ids) names.push_back({name.first, name.second});
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<int64_t> found, SeriesIdsFor(database, names));
  auto next = found.begin();
  for (auto& [name, id] : ids) id = *next++;
  std::vector<NewPoints> identified;
  for (auto& [attempt, keys] : attempts) {
    NewPoints& fresh = identified.emplace_back(NewPoints{attempt, {}});
    for (auto& [key, points] : keys) {
      fresh.points.emplace(ids.at({attempt.job_id, key}), std::move(points));
    }
  }
  return identified;
}

// Removes chunks of dropped jobs. The series of these jobs have a negative job id, so that no query
// finds them. A series id is not used again before its chunks are removed.
absl::StatusOr<bool> ReclaimChunks(SqlConnections& connections) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto writer, connections.BeginWrite());
  SqlDatabase& database = **writer;
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t series_id,
      database.QueryInt64("SELECT id FROM series WHERE job_id < 0 ORDER BY job_id LIMIT 1"));
  if (series_id == 0) return false;
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t removed,
      database.Change("DELETE FROM chunk WHERE id IN (SELECT id FROM chunk WHERE series_id = $1 "
                      "LIMIT $2)",
                      series_id, kReclaimedChunks));
  if (removed < kReclaimedChunks) {
    TRAINYARD_RETURN_IF_ERROR(database.Run("DELETE FROM series WHERE id = $1", series_id));
  }
  TRAINYARD_RETURN_IF_ERROR(writer->Commit());
  return true;
}

// Returns the last step of an attempt, in chunks or tail.
absl::StatusOr<int64_t> LastStep(SqlDatabase& database, int64_t job_id,
                                 const AttemptSteps& attempt) {
  TRAINYARD_ASSIGN_OR_RETURN(
      int64_t last,
      database.QueryInt64("SELECT MAX(last_step) FROM chunk WHERE attempt = $1 AND series_id IN "
                          "(SELECT id FROM series WHERE job_id = $2)",
                          attempt.number, job_id));
  TRAINYARD_ASSIGN_OR_RETURN(const PointsBySeries tail, ReadTail(database, job_id, attempt.number));
  last = std::max(last, attempt.first_step);
  for (const auto& [series_id, points] : tail) {
    for (const SeriesPoint& point : points) last = std::max(last, point.step);
  }
  return last;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqlMetricStore>> SqlMetricStore::Open(
    std::unique_ptr<SqlConnections> connections) {
  TRAINYARD_ASSIGN_OR_RETURN(auto mark, MarkTable::Open(*connections));
  return absl::WrapUnique(new SqlMetricStore(std::move(connections), std::move(mark)));
}

absl::Status SqlMetricStore::Append(const std::vector<MetricBatch>& batches) {
  std::lock_guard lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(const auto writer, connections_->BeginWrite());
  TRAINYARD_ASSIGN_OR_RETURN(PointsByAttempt attempts, TakeNewBatches(**writer, batches));
  TRAINYARD_ASSIGN_OR_RETURN(const auto identified, Identify(**writer, attempts));
  TRAINYARD_RETURN_IF_ERROR(AddPoints(**writer, identified));
  TRAINYARD_RETURN_IF_ERROR(mark_->Write(**writer));
  TRAINYARD_RETURN_IF_ERROR(writer->Commit());
  mark_->Committed();
  return absl::OkStatus();
}

absl::StatusOr<int64_t> SqlMetricStore::StoredOffset(const StreamKey& stream) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto reader, connections_->BeginRead(ReadView::kEachStatement));
  return (*reader)->QueryInt64(kReadOffset, stream.job_id, stream.attempt, stream.rank,
                               stream.kind);
}

absl::StatusOr<std::vector<v1::Series>> SqlMetricStore::Read(const SeriesQuery& query) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto reader, connections_->BeginRead(ReadView::kOne));
  return SeriesReader(**reader, query).Read();
}

absl::StatusOr<std::vector<AttemptRange>> SqlMetricStore::Attempts(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto reader, connections_->BeginRead(ReadView::kOne));
  TRAINYARD_ASSIGN_OR_RETURN(const auto attempts, ReadAttempts(**reader, job_id));
  std::vector<AttemptRange> ranges;
  for (const AttemptSteps& attempt : attempts) {
    TRAINYARD_ASSIGN_OR_RETURN(const int64_t last, LastStep(**reader, job_id, attempt));
    ranges.push_back({attempt.number, {attempt.first_step, last}});
  }
  return ranges;
}

absl::StatusOr<std::vector<std::string>> SqlMetricStore::Keys(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto reader, connections_->BeginRead(ReadView::kEachStatement));
  TRAINYARD_ASSIGN_OR_RETURN(
      const auto query,
      (*reader)->Query("SELECT key FROM series WHERE job_id = $1 ORDER BY key", job_id));
  std::vector<std::string> keys;
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
    if (!found) return keys;
    keys.emplace_back(query->Bytes(0));
  }
}

absl::StatusOr<std::vector<StoredExperts>> SqlMetricStore::ReadExperts(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto reader, connections_->BeginRead(ReadView::kEachStatement));
  return ReadExpertRecords(**reader, job_id);
}

absl::StatusOr<std::optional<StoredDataReport>> SqlMetricStore::ReadDataReport(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto reader, connections_->BeginRead(ReadView::kOne));
  return ReadNewestReport(**reader, job_id);
}

absl::StatusOr<std::vector<LinkedDataSet>> SqlMetricStore::ReadDataSets(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto reader, connections_->BeginRead(ReadView::kOne));
  return ReadLinkedDataSets(**reader, job_id);
}

absl::StatusOr<StoreUsage> SqlMetricStore::Usage() { return connections_->Usage(); }

absl::StatusOr<int64_t> SqlMetricStore::NextJob(int64_t after) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto reader, connections_->BeginRead(ReadView::kEachStatement));
  return (*reader)->QueryInt64("SELECT MIN(job_id) FROM stream WHERE job_id > $1", after);
}

absl::StatusOr<int64_t> SqlMetricStore::JobBytes(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto reader, connections_->BeginRead(ReadView::kEachStatement));
  return (*reader)->QueryInt64(
      "SELECT (SELECT COALESCE(SUM(LENGTH(block)), 0) FROM chunk WHERE series_id IN "
      "(SELECT id FROM series WHERE job_id = $1)) + "
      "(SELECT COALESCE(SUM(LENGTH(block)), 0) FROM tail WHERE job_id = $1) + "
      "(SELECT COALESCE(SUM(LENGTH(block)), 0) FROM expert WHERE job_id = $1) + "
      "(SELECT COALESCE(SUM(LENGTH(block)), 0) FROM report_part WHERE job_id = $1)",
      job_id);
}

absl::Status SqlMetricStore::DropJob(int64_t job_id) {
  std::lock_guard lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(const auto writer, connections_->BeginWrite());
  TRAINYARD_RETURN_IF_ERROR(HideJob("series", job_id, **writer));
  // Delete these rows now instead of in Reclaim, because there are few of them: the tail of an
  // attempt is small (metric_tables.h), and so are the records of experts (expert_history.h), the
  // reports (data_report.h) and their data sets (data_sets.h).
  for (const char* table : {"tail", "attempt", "stream", "expert", "report_part", "job_data_set"}) {
    TRAINYARD_RETURN_IF_ERROR(
        (*writer)->Run(absl::StrCat("DELETE FROM ", table, " WHERE job_id = $1"), job_id));
  }
  return writer->Commit();
}

absl::StatusOr<bool> SqlMetricStore::Reclaim() {
  std::lock_guard lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(const bool reclaimed, ReclaimChunks(*connections_));
  if (reclaimed) return true;
  return connections_->ReturnFreeSpace();
}

void SqlMetricStore::NoteLogMark(const v1::LogMark& mark) {
  std::lock_guard lock(mutex_);
  mark_->Note(mark);
}

absl::Status SqlMetricStore::WriteLogMark() {
  std::lock_guard lock(mutex_);
  return mark_->WriteIfDue(*connections_);
}

absl::StatusOr<v1::LogMark> SqlMetricStore::ReadLogMark() { return MarkTable::Read(*connections_); }

}  // namespace trainyard::controller

#include "controller/store/metrics/sqlite_metric_store.h"

#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/metrics/data_report_table.h"
#include "controller/store/metrics/data_set_table.h"
#include "controller/store/metrics/expert_table.h"
#include "controller/store/metrics/metric_tables.h"
#include "controller/store/metrics/series_reader.h"
#include "controller/store/sqlite/migrations.h"
#include "controller/store/sqlite/sqlite_drop.h"
#include "controller/store/sqlite/sqlite_space.h"
#include "controller/store/support/stream_offsets.h"
#include "proto/contract/attempt_key.h"

namespace trainyard::controller {
namespace {

// The number of chunks that one call of Reclaim removes. Removing them takes a few milliseconds.
constexpr int kReclaimedChunks = 256;

// The points of one Append, by series key. PointsByAttempt contains them for each attempt.
using PointsByKey = std::unordered_map<std::string_view, std::vector<SeriesPoint>>;
using PointsByAttempt = std::map<AttemptKey, PointsByKey>;

constexpr char kReadOffset[] =
    "SELECT stored_offset FROM stream WHERE job_id = ? AND attempt = ? AND rank = ? AND kind = ?";

absl::StatusOr<int64_t> ReadOffset(SqliteDatabase& database, const StreamKey& stream) {
  return database.QueryInt64(kReadOffset, stream.job_id, stream.attempt, stream.rank, stream.kind);
}

// Advances the stream's offset past the batch. Returns false if the batch is already stored.
absl::StatusOr<bool> AdvanceOffset(SqliteDatabase& database, const MetricBatch& batch) {
  const StreamKey& stream = batch.stream;
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t stored, ReadOffset(database, stream));
  TRAINYARD_RETURN_IF_ERROR(
      CheckBatchRange(stream, {batch.begin_offset, batch.end_offset}, stored));
  if (batch.end_offset <= stored) return false;
  TRAINYARD_RETURN_IF_ERROR(database.Run("INSERT OR REPLACE INTO stream VALUES (?, ?, ?, ?, ?)",
                                         stream.job_id, stream.attempt, stream.rank, stream.kind,
                                         batch.end_offset));
  return true;
}

// Stores the records of experts and the reports of all batches that are not completely stored, and
// returns the points of these batches. A partly stored batch is added as a whole; its points and
// records replace the stored points and records.
absl::StatusOr<PointsByAttempt> TakeNewBatches(SqliteDatabase& database,
                                               const std::vector<MetricBatch>& batches) {
  PointsByAttempt attempts;
  for (const MetricBatch& batch : batches) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool is_new, AdvanceOffset(database, batch));
    if (!is_new) continue;
    for (const StoredExperts& experts : batch.experts) {
      TRAINYARD_RETURN_IF_ERROR(AddExperts(database, batch.stream.job_id, experts));
    }
    for (const StoredReportPart& part : batch.reports) {
      TRAINYARD_RETURN_IF_ERROR(AddReportPart(database, batch.stream.job_id, part));
    }
    if (batch.points.empty()) continue;
    PointsByKey& keys = attempts[{batch.stream.job_id, batch.stream.attempt}];
    for (const MetricPoint& point : batch.points) {
      keys[point.key].push_back({point.step, point.time_ms, point.value});
    }
  }
  return attempts;
}

// Removes chunks of dropped jobs. The series of these jobs have a negative job id, so that no query
// finds them. A series id is not used again before its chunks are removed.
absl::StatusOr<bool> ReclaimChunks(SqliteDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginWrite(database));
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t series_id,
      database.QueryInt64("SELECT id FROM series WHERE job_id < 0 ORDER BY job_id LIMIT 1"));
  if (series_id == 0) return false;
  TRAINYARD_RETURN_IF_ERROR(database.Run(
      "DELETE FROM chunk WHERE id IN (SELECT id FROM chunk WHERE series_id = ? LIMIT ?)", series_id,
      kReclaimedChunks));
  if (database.ChangedRows() < kReclaimedChunks) {
    TRAINYARD_RETURN_IF_ERROR(database.Run("DELETE FROM series WHERE id = ?", series_id));
  }
  TRAINYARD_RETURN_IF_ERROR(transaction.Commit());
  return true;
}

absl::Status AddToAttempt(SqliteDatabase& database, int64_t job_id, int64_t attempt_number,
                          PointsByKey& keys) {
  PointsBySeries points;
  for (auto& [key, key_points] : keys) {
    TRAINYARD_ASSIGN_OR_RETURN(const int64_t series_id, SeriesIdFor(database, job_id, key));
    points.emplace(series_id, std::move(key_points));
  }
  return AddPoints(database, job_id, attempt_number, points);
}

}  // namespace

SqliteMetricStore::SqliteMetricStore(std::unique_ptr<SqliteDatabase> writer,
                                     std::unique_ptr<MarkTable> mark)
    : writer_(std::move(writer)), mark_(std::move(mark)), readers_(writer_->path()) {}

absl::StatusOr<std::unique_ptr<SqliteMetricStore>> SqliteMetricStore::Open(
    const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(auto writer,
                             SqliteDatabase::Open(path, SqliteDatabase::Mode::kWriter));
  TRAINYARD_RETURN_IF_ERROR(Migrate(*writer, MetricMigrations()));
  TRAINYARD_ASSIGN_OR_RETURN(auto mark, MarkTable::Open(*writer));
  return std::unique_ptr<SqliteMetricStore>(
      new SqliteMetricStore(std::move(writer), std::move(mark)));
}

absl::Status SqliteMetricStore::Append(const std::vector<MetricBatch>& batches) {
  std::lock_guard lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginWrite(*writer_));
  TRAINYARD_ASSIGN_OR_RETURN(PointsByAttempt attempts, TakeNewBatches(*writer_, batches));
  for (auto& [attempt, keys] : attempts) {
    TRAINYARD_RETURN_IF_ERROR(AddToAttempt(*writer_, attempt.job_id, attempt.number, keys));
  }
  TRAINYARD_RETURN_IF_ERROR(mark_->Write(*writer_));
  TRAINYARD_RETURN_IF_ERROR(transaction.Commit());
  mark_->Committed();
  return absl::OkStatus();
}

absl::StatusOr<int64_t> SqliteMetricStore::StoredOffset(const StreamKey& stream) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return ReadOffset(*reader, stream);
}

absl::StatusOr<std::vector<v1::Series>> SqliteMetricStore::Read(const SeriesQuery& query) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginRead(*reader));
  return SeriesReader(*reader, query).Read();
}

absl::StatusOr<std::vector<AttemptRange>> SqliteMetricStore::Attempts(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginRead(*reader));
  TRAINYARD_ASSIGN_OR_RETURN(const auto attempts, ReadAttempts(*reader, job_id));
  std::vector<AttemptRange> ranges;
  for (const AttemptSteps& attempt : attempts) {
    TRAINYARD_ASSIGN_OR_RETURN(
        int64_t last, reader->QueryInt64("SELECT MAX(last_step) FROM chunk WHERE attempt = ? AND "
                                         "series_id IN (SELECT id FROM series WHERE job_id = ?)",
                                         attempt.number, job_id));
    TRAINYARD_ASSIGN_OR_RETURN(const PointsBySeries tail,
                               ReadTail(*reader, job_id, attempt.number));
    last = std::max(last, attempt.first_step);
    for (const auto& [series_id, points] : tail) {
      for (const SeriesPoint& point : points) last = std::max(last, point.step);
    }
    ranges.push_back({attempt.number, {attempt.first_step, last}});
  }
  return ranges;
}

absl::StatusOr<std::vector<std::string>> SqliteMetricStore::Keys(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(
      SqliteQuery query,
      reader->Query("SELECT key FROM series WHERE job_id = ? ORDER BY key", job_id));
  std::vector<std::string> keys;
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
    if (!found) return keys;
    keys.emplace_back(query.Bytes(0));
  }
}

absl::StatusOr<std::vector<StoredExperts>> SqliteMetricStore::ReadExperts(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return ReadExpertRecords(*reader, job_id);
}

absl::StatusOr<std::optional<StoredDataReport>> SqliteMetricStore::ReadDataReport(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginRead(*reader));
  return ReadNewestReport(*reader, job_id);
}

absl::StatusOr<std::vector<LinkedDataSet>> SqliteMetricStore::ReadDataSets(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginRead(*reader));
  return ReadLinkedDataSets(*reader, job_id);
}

absl::StatusOr<StoreUsage> SqliteMetricStore::Usage() {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return ReadUsage(*reader);
}

absl::StatusOr<int64_t> SqliteMetricStore::NextJob(int64_t after) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return reader->QueryInt64("SELECT MIN(job_id) FROM stream WHERE job_id > ?", after);
}

absl::StatusOr<int64_t> SqliteMetricStore::JobBytes(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return reader->QueryInt64(
      "SELECT (SELECT COALESCE(SUM(LENGTH(block)), 0) FROM chunk WHERE series_id IN "
      "(SELECT id FROM series WHERE job_id = ?1)) + "
      "(SELECT COALESCE(SUM(LENGTH(block)), 0) FROM tail WHERE job_id = ?1) + "
      "(SELECT COALESCE(SUM(LENGTH(block)), 0) FROM expert WHERE job_id = ?1) + "
      "(SELECT COALESCE(SUM(LENGTH(block)), 0) FROM report_part WHERE job_id = ?1)",
      job_id);
}

absl::Status SqliteMetricStore::DropJob(int64_t job_id) {
  std::lock_guard lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginWrite(*writer_));
  TRAINYARD_RETURN_IF_ERROR(HideJob("series", job_id, *writer_));
  // Delete these rows now instead of in Reclaim, because there are few of them: the tail of an
  // attempt is small (metric_tables.h), and so are the records of experts (expert_history.h), the
  // reports (data_report.h) and their data sets (data_sets.h).
  for (const char* table : {"tail", "attempt", "stream", "expert", "report_part", "job_data_set"}) {
    TRAINYARD_RETURN_IF_ERROR(
        writer_->Run(absl::StrCat("DELETE FROM ", table, " WHERE job_id = ?"), job_id));
  }
  return transaction.Commit();
}

absl::StatusOr<bool> SqliteMetricStore::Reclaim() {
  std::lock_guard lock(mutex_);
  TRAINYARD_ASSIGN_OR_RETURN(const bool reclaimed, ReclaimChunks(*writer_));
  if (reclaimed) return true;
  return ReturnFreePages(*writer_);
}

void SqliteMetricStore::NoteLogMark(const v1::LogMark& mark) {
  std::lock_guard lock(mutex_);
  mark_->Note(mark);
}

absl::Status SqliteMetricStore::WriteLogMark() {
  std::lock_guard lock(mutex_);
  return mark_->WriteIfDue(*writer_);
}

absl::StatusOr<v1::LogMark> SqliteMetricStore::ReadLogMark() {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return MarkTable::Read(*reader);
}

}  // namespace trainyard::controller

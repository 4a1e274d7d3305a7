// The metric store in one SQLite database (tables: metric_tables.h).
#ifndef TRAINYARD_CONTROLLER_STORE_METRICS_SQLITE_METRIC_STORE_H_
#define TRAINYARD_CONTROLLER_STORE_METRICS_SQLITE_METRIC_STORE_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "controller/store/metrics/metric_store.h"
#include "controller/store/sqlite/mark_table.h"
#include "controller/store/sqlite/sqlite_database.h"

namespace trainyard::controller {

// There is one writer at a time. Readers use their own connections and never wait for the writer.
class SqliteMetricStore : public MetricStore {
 public:
  // Opens or creates the database and brings its schema up to date.
  static absl::StatusOr<std::unique_ptr<SqliteMetricStore>> Open(const std::string& path);

  absl::Status Append(const std::vector<MetricBatch>& batches) override;
  absl::StatusOr<int64_t> StoredOffset(const StreamKey& stream) override;
  absl::StatusOr<std::vector<v1::Series>> Read(const SeriesQuery& query) override;
  absl::StatusOr<std::vector<std::string>> Keys(int64_t job_id) override;
  absl::StatusOr<std::vector<StoredExperts>> ReadExperts(int64_t job_id) override;
  absl::StatusOr<std::optional<StoredDataReport>> ReadDataReport(int64_t job_id) override;
  absl::StatusOr<std::vector<LinkedDataSet>> ReadDataSets(int64_t job_id) override;
  absl::StatusOr<std::vector<AttemptRange>> Attempts(int64_t job_id) override;

  absl::StatusOr<StoreUsage> Usage() override;
  absl::StatusOr<int64_t> NextJob(int64_t after) override;
  absl::StatusOr<int64_t> JobBytes(int64_t job_id) override;
  absl::StatusOr<bool> Reclaim() override;
  absl::Status DropJob(int64_t job_id) override;

  void NoteLogMark(const v1::LogMark& mark) override;
  absl::Status WriteLogMark() override;
  absl::StatusOr<v1::LogMark> ReadLogMark() override;
  StoreMark Position() override { return mark_->position(); }

 private:
  SqliteMetricStore(std::unique_ptr<SqliteDatabase> writer, std::unique_ptr<MarkTable> mark);

  std::mutex mutex_;
  std::unique_ptr<SqliteDatabase> writer_;  // Guarded by mutex_.
  const std::unique_ptr<MarkTable> mark_;   // Guarded by mutex_; position() needs no lock.
  SqliteReaderPool readers_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_METRICS_SQLITE_METRIC_STORE_H_

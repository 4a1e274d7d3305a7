// The metric store in the tables of a database (metric_tables.h), SQLite or PostgreSQL.
#ifndef TRAINYARD_CONTROLLER_STORE_METRICS_SQL_METRIC_STORE_H_
#define TRAINYARD_CONTROLLER_STORE_METRICS_SQL_METRIC_STORE_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/metrics/metric_store.h"
#include "controller/store/sql/mark_table.h"
#include "controller/store/sql/sql_connections.h"

namespace trainyard::controller {

// There is one writer at a time. Readers use their own connections and never wait for the writer.
class SqlMetricStore : public MetricStore {
 public:
  // The schema of the database must be up to date.
  static absl::StatusOr<std::unique_ptr<SqlMetricStore>> Open(
      std::unique_ptr<SqlConnections> connections);

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
  SqlMetricStore(std::unique_ptr<SqlConnections> connections, std::unique_ptr<MarkTable> mark)
      : connections_(std::move(connections)), mark_(std::move(mark)) {}

  std::mutex mutex_;  // Held during each transaction that writes.
  const std::unique_ptr<SqlConnections> connections_;
  const std::unique_ptr<MarkTable> mark_;  // Guarded by mutex_; position() needs no lock.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_METRICS_SQL_METRIC_STORE_H_

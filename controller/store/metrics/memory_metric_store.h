// In-memory metric store for simulation and tests. The tests of SqliteMetricStore use this store
// as their reference.
#ifndef TRAINYARD_CONTROLLER_STORE_METRICS_MEMORY_METRIC_STORE_H_
#define TRAINYARD_CONTROLLER_STORE_METRICS_MEMORY_METRIC_STORE_H_

#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "controller/store/metrics/metric_points.h"
#include "controller/store/metrics/metric_store.h"

namespace trainyard::controller {

class MemoryMetricStore : public WithMemoryMark<MetricStore> {
 public:
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

 private:
  using Points = std::map<int64_t, SeriesPoint>;        // By step.
  using Series = std::map<std::string, Points>;         // By key.
  using Experts = std::map<int64_t, StoredExperts>;     // By step.
  using AttemptPoints = std::map<int64_t, Series>;      // By attempt number.
  using ReportParts = std::map<int, StoredReportPart>;  // By part.
  using Reports = std::map<DataReportKey, ReportParts>;
  struct VisiblePoint {
    int64_t attempt = 0;
    SeriesPoint point;
  };
  struct VisibleSeries {
    std::map<int64_t, VisiblePoint> points;  // By step.
    // The range of steps that is divided into buckets.
    StepRange extent = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  };

  void AddExperts(int64_t job_id, const StoredExperts& added);
  void AddReportPart(int64_t job_id, const StoredReportPart& part);
  // Returns the newest report whose parts are all stored; the end if there is none.
  static Reports::const_iterator NewestComplete(const Reports& reports);
  static StoredDataReport JoinedReport(const DataReportKey& key, const ReportParts& parts);
  // Adds the jobs on the other side.
  void AddJobs(LinkedDataSet& linked) const;
  static std::vector<int64_t> StepsOf(const Experts& experts);
  static int64_t PointBytes(const AttemptPoints& attempts);
  static VisibleSeries FindVisible(const AttemptPoints& attempts, const SeriesQuery& query,
                                   const std::string& key);

  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<StreamKey, int64_t> offsets_;
  std::map<int64_t, AttemptPoints> jobs_;
  std::map<int64_t, Experts> experts_;
  std::map<int64_t, Reports> reports_;
  std::map<int64_t, ReportedDataSets> data_sets_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_METRICS_MEMORY_METRIC_STORE_H_

// Last values and counters of trainers' telemetry. Prometheus scrapes only every 15 s; the metric
// store has the values of each step.
#ifndef TRAINYARD_CONTROLLER_METRICS_TRAINING_TOTALS_H_
#define TRAINYARD_CONTROLLER_METRICS_TRAINING_TOTALS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "proto/metrics/metric_set.h"
#include "proto/support/clock.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// Not thread-safe. Has no side effects. Counters restart at 0 with each process, which Prometheus'
// rate() handles.
class TrainingTotals {
 public:
  // Records a batch. The batches of a stream must arrive in order and only once. A gang's metrics
  // must come only from its reporting rank (KeepReportingRanksMetrics).
  void Observe(const v1::TelemetryBatch& batch, Timestamp now);

  void Forget(int64_t job_id) { jobs_.erase(job_id); }

  // Omits rates if the newest record is older than 30 s and also older than the duration of three
  // steps. Such a job has probably stalled and has no rate.
  void AddJobSamples(int64_t job_id, const MetricLabels& labels, Timestamp now,
                     MetricSet& metrics) const;

 private:
  struct Job {
    // The newest attempt that has sent a record. Records of older attempts change counters but no
    // other values.
    int64_t attempt = 0;
    // Values by telemetry name. Contains only well-known names.
    std::map<std::string, double> last;
    // The highest step of the newest attempt, and the number of tokens at that step.
    int64_t step = 0;
    int64_t total_steps = 0;
    double tokens = 0;
    Timestamp step_time_ms = 0;

    int64_t steps_counted = 0;
    double tokens_counted = 0;
    double data_stall_seconds = 0;
    // nullopt until the first observation.
    std::optional<prometheus::Histogram> step_seconds;
    std::optional<prometheus::Histogram> checkpoint_seconds;
    double checkpoint_blocking_seconds = 0;
  };

  static void ObserveMetrics(const v1::TelemetryRecord& record, int64_t attempt_number,
                             Timestamp now, Job& job);
  static void ObserveCheckpoint(const v1::CheckpointRecord& record, Job& job);

  std::map<int64_t, Job> jobs_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_METRICS_TRAINING_TOTALS_H_

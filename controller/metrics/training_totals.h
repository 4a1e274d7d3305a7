// Telemetry of the jobs' trainers, as last values and counters. Prometheus sees one scrape in 15 s;
// the values of each step are in the metric store.
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

// Pure; one thread. Counters begin at 0 with the process; Prometheus' rate() allows for such
// resets.
class TrainingTotals {
 public:
  // Records a batch. Batches of a stream come in order, none comes twice, and metrics of a gang
  // come from its reporting rank only (KeepReportingRanksMetrics).
  void Observe(const v1::TelemetryBatch& batch, Timestamp now);

  void Forget(int64_t job_id) { jobs_.erase(job_id); }

  // Rates are left out while the newest record is older than half a minute and three steps: a rank
  // that hangs has no speed.
  void AddJobSamples(int64_t job_id, const MetricLabels& labels, Timestamp now,
                     MetricSet& metrics) const;

 private:
  struct Job {
    // Newest attempt that has sent a record; older ones change counters only.
    int64_t attempt = 0;
    // By name in telemetry; well-known names only.
    std::map<std::string, double> last;
    // Of the newest attempt: highest step, and its count of tokens.
    int64_t step = 0;
    int64_t total_steps = 0;
    double tokens = 0;
    Timestamp step_time_ms = 0;

    int64_t steps_counted = 0;
    double tokens_counted = 0;
    double data_stall_seconds = 0;
    // Unset until there is an observation.
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

// Limits on the series and events that the telemetry of one rank can create in the controller's
// stores.
#ifndef TRAINYARD_WORKER_TAIL_TELEMETRY_LIMITS_H_
#define TRAINYARD_WORKER_TAIL_TELEMETRY_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::worker {

// Each metric name is a series and each alert an event; the controller keeps both forever.
inline constexpr std::size_t kMaxSeriesOfRank = 1000;
inline constexpr int kMaxAlertsOfRank = 1000;

// One object per stream. Its counts begin at 0 when the worker restarts. Not thread-safe.
class TelemetryLimits {
 public:
  // Removes metrics and alerts beyond the limits from a batch. The batch that crosses a limit gets
  // one alert that reports it, and keeps its own alerts. A batch that is read again (after a
  // reconnect, perhaps with more records at its end) keeps everything it kept before.
  void Apply(v1::TelemetryBatch& batch);

 private:
  void LimitSeries(v1::TelemetryBatch& batch);
  void LimitAlerts(v1::TelemetryBatch& batch);

  std::set<std::string> series_;  // Metric names so far, at most kMaxSeriesOfRank.
  // begin_offset of the batch with the alert about too many metrics.
  int64_t series_alert_at_ = std::numeric_limits<int64_t>::max();
  // Number of alerts so far, by the end offset of each batch with alerts. At most kMaxAlertsOfRank
  // + 1 entries: later alerts are removed.
  std::map<int64_t, int> alerts_until_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_TELEMETRY_LIMITS_H_

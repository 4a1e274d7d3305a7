// Bounds what one rank's telemetry can create in the controller, whatever the program writes.
#ifndef TRAINYARD_WORKER_TAIL_TELEMETRY_LIMITS_H_
#define TRAINYARD_WORKER_TAIL_TELEMETRY_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>

#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::worker {

// Each key is a series, kept for ever; each alert is an event, kept for ever.
inline constexpr std::size_t kMaxSeriesOfRank = 1000;
inline constexpr int kMaxAlertsOfRank = 1000;

// One object for each stream; its counts begin at 0 when the worker restarts. Not thread-safe.
class TelemetryLimits {
 public:
  // Removes metrics and alerts beyond the limits from a batch. The batch in which a limit is
  // crossed gets one alert that says so. A batch that is read again keeps all that it kept before.
  void Apply(v1::TelemetryBatch& batch);

 private:
  void LimitSeries(v1::TelemetryBatch& batch);
  void LimitAlerts(v1::TelemetryBatch& batch);

  std::set<std::string> series_;
  bool series_full_ = false;
  int alerts_ = 0;
  int64_t counted_until_ = 0;
  // Alerts of batches that begin at this offset or later are left out.
  int64_t alerts_closed_at_ = std::numeric_limits<int64_t>::max();
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_TELEMETRY_LIMITS_H_

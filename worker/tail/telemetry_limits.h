// Limits how many series and events the telemetry of one rank can create in the controller's
// stores. Reports unreadable telemetry.
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

// The limits per rank. They are needed because each metric name creates a series and each alert
// creates an event. The controller keeps series and events permanently.
inline constexpr std::size_t kMaxSeriesOfRank = 1000;
inline constexpr int kMaxAlertsOfRank = 1000;

// Each stream has one object, whose counts are 0 when the worker starts. Not thread-safe.
class TelemetryLimits {
 public:
  // Removes metrics and alerts beyond the limits from a batch. The first batch that exceeds a limit
  // gets an additional alert about the limit. The first batch with an unreadable line gets one
  // about the line. After a reconnect, a batch may be read again, perhaps with more records at its
  // end. Everything that was kept the first time is kept again.
  void Apply(v1::TelemetryBatch& batch);

 private:
  void LimitSeries(v1::TelemetryBatch& batch);
  void LimitAlerts(v1::TelemetryBatch& batch);
  void ReportBadLine(v1::TelemetryBatch& batch);

  std::set<std::string> series_;  // Metric names so far, at most kMaxSeriesOfRank.
  // The begin_offset of the batch that got the alert about too many metrics.
  int64_t series_alert_at_ = std::numeric_limits<int64_t>::max();
  // The begin_offset of the batch that got the alert about an unreadable line.
  int64_t bad_line_alert_at_ = std::numeric_limits<int64_t>::max();
  // Maps the end offset of each batch with alerts to the number of alerts up to that offset. Has at
  // most kMaxAlertsOfRank + 1 entries, because later alerts are removed.
  std::map<int64_t, int> alerts_until_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_TELEMETRY_LIMITS_H_

// Keeps the periods in which a run lost training time, until the event log contains them.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_LOST_PERIODS_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_LOST_PERIODS_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "proto/support/clock.h"

namespace trainyard::controller {

// Times are by the controller's clock. Lengths are in milliseconds.
class LostPeriods {
 public:
  struct Lost {
    Timestamp until_ms = 0;  // The end of the newest of the periods.
    int64_t lost_ms = 0;     // The time lost in all of them.
  };

  enum class Scope {
    kComplete,  // Only periods that no longer grow.
    kAll,       // The open period as well. For an attempt that ends.
  };

  // Adds a period in which `lost_ms` was lost. `lost_ms` is at most the length of the period.
  // Consecutive periods are joined into one open period. The open period is complete when it is at
  // least a minute long and covers at least a tenth of the time since the problem began. A long
  // problem therefore needs few events.
  void Add(Timestamp since_ms, Timestamp until_ms, int64_t lost_ms);

  // Must be called when the problem is over. Completes the open period, unless another period ended
  // in the last minute. In that case the open period continues with the next problem, so an
  // intermittent problem needs at most one event per minute.
  void End();

  // Adjusts to a step of the controller's clock by `step_ms`.
  void Shift(int64_t step_ms);

  // Returns the time lost after `recorded_until_ms`, the until_ms of the newest recorded period. A
  // period that contains this moment counts only in proportion to its later part. Returns nullopt
  // if no time was lost.
  std::optional<Lost> Unrecorded(Timestamp recorded_until_ms, Scope scope) const;

 private:
  struct Period {
    Timestamp since_ms = 0;
    Timestamp until_ms = 0;
    int64_t lost_ms = 0;
  };

  void Complete();

  Timestamp began_ms_ = 0;  // The start of the problem to which open_ belongs.
  std::optional<Period> open_;
  std::deque<Period> complete_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_LOST_PERIODS_H_

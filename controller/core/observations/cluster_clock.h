// The controller's time. It advances with steady time only. When the wall clock jumps, an event
// shifts all times in the state (time_shift.h). Therefore durations are always measured in steady
// time, and times of day follow the wall clock.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_CLUSTER_CLOCK_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_CLUSTER_CLOCK_H_

#include <cstdint>
#include <optional>
#include <string>

#include "controller/core/observations/observations.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// The smallest difference between the wall clock and the controller's time that is corrected. Times
// of day need no higher precision.
inline constexpr int64_t kClockStepMs = 1000;
// At a start after a reboot, or on another machine, only the wall clock can measure the time since
// the newest event. The wall clock is trusted if it measures at most kUndoubtedGapMs.
inline constexpr int64_t kUndoubtedGapMs = 86'400'000;
// The wall clock is trusted if it differs by at most this from the time that a standby measured. A
// small difference is normal, because the standby reads an event a moment after it was written.
inline constexpr int64_t kMeasuredGapToleranceMs = 5'000;

class ClusterClock {
 public:
  // Use this if the wall clock never jumps.
  ClusterClock() = default;
  // Use this when the controller starts. `known` is the clock in the state. On the same boot,
  // steady time continues regardless of the wall clock. On another boot, the time since the newest
  // event is measured by the wall clock; a negative time counts as 0. `since_newest_ms` is the same
  // time, measured by a standby with the steady clock of its machine; nullopt if it was not
  // measured. If the two times differ by more than kMeasuredGapToleranceMs, the standby's counts.
  ClusterClock(const v1::ClusterClock& known, const std::string& boot_id,
               const ClockReading& reading, std::optional<int64_t> since_newest_ms = std::nullopt);

  Timestamp TimeAt(const ClockReading& reading) const { return boot_time_ms_ + reading.steady_ms; }

  // Returns the ClockSet event to record before all other events of this tick. Returns nullopt if
  // none is due.
  std::optional<v1::ClockSet> Due(const ClockReading& reading) const;

  // Adopts the time of the event, which is about to be committed. Returns the milliseconds by which
  // TimeAt changes.
  int64_t Take(const v1::ClockSet& set);
  void Committed() { due_at_start_.reset(); }
  // Reverts Take after a failed commit. `moved_ms` is the value that Take returned.
  void Undo(int64_t moved_ms) { boot_time_ms_ -= moved_ms; }

 private:
  std::string boot_id_;
  int64_t boot_time_ms_ = 0;
  std::optional<v1::ClockSet> due_at_start_;
};

// Returns the reason to doubt the wall clock of the controller's machine, with the next step for
// the operator. Empty if there is none. If clocks of attached workers are known, only their median
// offset decides. Otherwise the doubt recorded in `known` is returned.
std::string ClockWarning(const v1::ClusterClock& known, const Observations& observations);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_CLUSTER_CLOCK_H_

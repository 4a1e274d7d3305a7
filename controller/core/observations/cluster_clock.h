// The controller's time. It advances by steady time only. A step of the wall clock becomes an event
// that moves all times of the state (time_shift.h): durations remain sums of steady time, and times
// of day follow the wall clock.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_CLUSTER_CLOCK_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_CLUSTER_CLOCK_H_

#include <cstdint>
#include <optional>
#include <string>

#include "controller/core/observations/observations.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Smallest difference between wall clock and controller's time that is corrected. Times of day need
// no higher precision.
inline constexpr int64_t kClockStepMs = 1000;
// Longest time between the newest event and a start on another boot for which the wall clock is not
// doubted. Only the wall clock can measure this time.
inline constexpr int64_t kUndoubtedGapMs = 86'400'000;

class ClusterClock {
 public:
  // For a wall clock that never jumps.
  ClusterClock() = default;
  // For the start of the controller. `known` is part of the state. On the same boot, steady time
  // continues regardless of the wall clock. On another boot, the wall clock measures the time since
  // the newest event, which is at least 0.
  ClusterClock(const v1::ClusterClock& known, const std::string& boot_id,
               const ClockReading& reading);

  Timestamp TimeAt(const ClockReading& reading) const { return boot_time_ms_ + reading.steady_ms; }

  // The ClockSet event to record before any other event of this tick; nullopt if none is due.
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

// Reason to doubt the wall clock of the controller's machine, with the next step for a person;
// empty if none. A doubt ends if the clocks of workers agree with it, and begins if they disagree.
std::string ClockWarning(const v1::ClusterClock& known, const Observations& observations);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_CLUSTER_CLOCK_H_

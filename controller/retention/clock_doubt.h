// Detects an implausible wall clock. Removed data cannot be restored, and ages are wall time: if
// the clock were set years ahead, everything would be old enough to remove. Pure.
#ifndef TRAINYARD_CONTROLLER_RETENTION_CLOCK_DOUBT_H_
#define TRAINYARD_CONTROLLER_RETENTION_CLOCK_DOUBT_H_

#include <chrono>
#include <optional>
#include <string>

#include "proto/support/clock.h"

namespace trainyard::controller {

class ClockDoubt {
 public:
  using Steady = std::chrono::steady_clock::time_point;

  // Wall time may be ahead of the expected time by this much, to allow for corrections of an
  // inaccurate clock.
  static constexpr int64_t kToleranceMs = 600'000;
  // Tolerance at the start, because the controller may have been off for this long.
  static constexpr int64_t kStartToleranceMs = 86'400'000;
  // A clock that stays ahead for this long is believed, since nobody has set it back.
  static constexpr std::chrono::hours kDoubtLasts{24};

  // `known_ms`: newest wall time believed before the start; 0 if none. `wall_ms`: wall time read at
  // the start, believed unless it is too far ahead of known_ms. The clock may be set between the
  // start and the first pass.
  ClockDoubt(Timestamp known_ms, Timestamp wall_ms, Steady start)
      : known_ms_(known_ms), known_at_(start) {
    Check(wall_ms, start);
  }

  // Returns the reason not to believe the wall clock now; empty if it is believed. A believed time
  // becomes the new base of the expected time.
  std::string Check(Timestamp wall_ms, Steady now);

 private:
  Timestamp known_ms_;
  Steady known_at_;
  int64_t tolerance_ms_ = kStartToleranceMs;
  std::optional<Steady> since_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RETENTION_CLOCK_DOUBT_H_

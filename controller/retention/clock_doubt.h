// Detects an implausible wall clock. Retention removes data by its age in wall time, and removed
// data cannot be restored. If the clock were set years ahead, all data would seem old enough to
// remove. Has no side effects.
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

  // The wall clock may be ahead of the expected time by this much, because an inaccurate clock may
  // have been corrected.
  static constexpr int64_t kToleranceMs = 600'000;
  // The tolerance at the start of the controller. This tolerance is larger, because the time for
  // which the controller was off is unknown.
  static constexpr int64_t kStartToleranceMs = 86'400'000;
  // A clock that has been ahead for this long is trusted, because nobody has set it back.
  static constexpr std::chrono::hours kDoubtLasts{24};

  // `known_ms` is the newest wall time that was trusted before the start, or 0 if there is none.
  // `wall_ms` is the wall time read at the start. `wall_ms` is trusted unless it is too far ahead
  // of `known_ms`. `wall_ms` is needed because the clock may be set before the first pass.
  ClockDoubt(Timestamp known_ms, Timestamp wall_ms, Steady start)
      : known_ms_(known_ms), known_at_(start) {
    Check(wall_ms, start);
  }

  // Returns the reason why the wall clock is not trusted now. Empty if it is trusted. Later
  // expected times are computed from the last trusted time.
  std::string Check(Timestamp wall_ms, Steady now);

 private:
  Timestamp known_ms_;
  Steady known_at_;
  int64_t tolerance_ms_ = kStartToleranceMs;
  std::optional<Steady> since_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RETENTION_CLOCK_DOUBT_H_

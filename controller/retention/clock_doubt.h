// Doubt about the wall clock. What retention removes is lost, and ages are wall time: a clock that
// is set years forwards would make all of it too old. Pure.
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

  // Wall time may be ahead of the expected one by this: corrections of a clock that runs badly.
  static constexpr int64_t kToleranceMs = 600'000;
  // The same at the start: a controller may have been off for so long without a doubt.
  static constexpr int64_t kStartToleranceMs = 86'400'000;
  // A clock that stays ahead for so long is right: nobody has set it back.
  static constexpr std::chrono::hours kDoubtLasts{24};

  // `known_ms`: newest wall time believed before the start; 0 if none. `wall_ms`: read at the
  // start; believed unless it is too far ahead of known_ms. The clock may jump before the first
  // pass.
  ClockDoubt(Timestamp known_ms, Timestamp wall_ms, Steady start)
      : known_ms_(known_ms), known_at_(start) {
    Check(wall_ms, start);
  }

  // Reason why the wall clock is not to be believed now; empty when it is. Any other time than the
  // expected one that is believed becomes the expected one.
  std::string Check(Timestamp wall_ms, Steady now);

 private:
  Timestamp known_ms_;
  Steady known_at_;
  int64_t tolerance_ms_ = kStartToleranceMs;
  std::optional<Steady> since_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RETENTION_CLOCK_DOUBT_H_

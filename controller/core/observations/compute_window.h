// Newest compute times of a rank, spread over a minute.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_COMPUTE_WINDOW_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_COMPUTE_WINDOW_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "proto/support/clock.h"

namespace trainyard::controller {

class ComputeWindow {
 public:
  static constexpr std::size_t kTimes = 15;
  // Minimum time between two kept values.
  static constexpr int64_t kSpacingMs = 4000;

  // Adds the seconds of one step, which must be above 0. Ignored within kSpacingMs of the last kept
  // value.
  void Add(double seconds, Timestamp now);
  // Adjusts to a step of the controller's clock by `step_ms`.
  void Shift(int64_t step_ms) { added_ms_ += step_ms; }

  // Median of the window; nullopt until it is full, so that neither the first steps of a program
  // nor a pause makes a rank slow.
  std::optional<double> Median() const;

 private:
  // Ring buffer. `float`, because each of many ranks has one.
  std::array<float, kTimes> seconds_{};
  std::size_t count_ = 0;
  Timestamp added_ms_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_COMPUTE_WINDOW_H_

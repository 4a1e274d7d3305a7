// The newest compute times of a rank, sampled over a minute.
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

  // Adds the seconds of one step. `seconds` must be above 0. The value is ignored if the last kept
  // value is less than kSpacingMs old.
  void Add(double seconds, Timestamp now);
  // Adjusts to a step of the controller's clock by `step_ms`.
  void Shift(int64_t step_ms) { added_ms_ += step_ms; }

  // Returns the median of the window, or nullopt until the window is full. The full window ensures
  // that neither a program's first steps nor a pause makes a rank look slow.
  std::optional<double> Median() const;

 private:
  // A ring buffer. It uses `float` to save memory, because every rank has such a buffer.
  std::array<float, kTimes> seconds_{};
  std::size_t count_ = 0;
  Timestamp added_ms_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_COMPUTE_WINDOW_H_

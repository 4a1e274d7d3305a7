// Newest computing times of a rank, spread over a minute.
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
  // Time between two that are kept.
  static constexpr int64_t kSpacingMs = 4000;

  // Takes in the seconds of one step, above 0. More often than every kSpacingMs changes nothing.
  void Add(double seconds, Timestamp now);
  // The controller's clock was set by `step_ms`.
  void Shift(int64_t step_ms) { added_ms_ += step_ms; }

  // Median of the window; nullopt until it is full. So neither the first steps of a program nor a
  // pause makes a rank slow.
  std::optional<double> Median() const;

 private:
  // A ring; `float` because there is one for each of many ranks.
  std::array<float, kTimes> seconds_{};
  std::size_t count_ = 0;
  Timestamp added_ms_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_COMPUTE_WINDOW_H_

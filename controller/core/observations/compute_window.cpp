#include "controller/core/observations/compute_window.h"

#include <algorithm>

namespace trainyard::controller {

void ComputeWindow::Add(double seconds, Timestamp now) {
  if (count_ > 0 && now - added_ms_ < kSpacingMs) return;
  added_ms_ = now;
  seconds_[count_ % kTimes] = static_cast<float>(seconds);
  ++count_;
}

std::optional<double> ComputeWindow::Median() const {
  if (count_ < kTimes) return std::nullopt;
  std::array<float, kTimes> sorted = seconds_;
  const auto middle = sorted.begin() + kTimes / 2;
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

}  // namespace trainyard::controller

#include "controller/core/observations/step_times.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

namespace trainyard::controller {
namespace {

double Percentile99(const std::deque<double>& seconds) {
  std::array<double, kStepTimesKept> sorted;
  const auto end = std::copy(seconds.begin(), seconds.end(), sorted.begin());
  const auto chosen =
      std::next(sorted.begin(), static_cast<std::ptrdiff_t>((seconds.size() - 1) * 99 / 100));
  std::nth_element(sorted.begin(), chosen, end);
  return *chosen;
}

}  // namespace

StepTimes::StepTimes(std::initializer_list<double> seconds) {
  for (const double one : seconds) Add(one);
}

void StepTimes::Add(double seconds) {
  seconds_.push_back(seconds);
  if (seconds_.size() > kStepTimesKept) seconds_.pop_front();
  slow_ = Percentile99(seconds_);
}

double StepTimes::Newest() const { return seconds_.empty() ? 0 : seconds_.back(); }

double StepTimes::Longest() const {
  return seconds_.empty() ? 0 : *std::ranges::max_element(seconds_);
}

double StepTimes::Pace() const {
  constexpr std::size_t kStepsInPace = 16;
  const std::size_t count = std::min(seconds_.size(), kStepsInPace);
  if (count == 0) return 0;
  return std::accumulate(seconds_.end() - static_cast<std::ptrdiff_t>(count), seconds_.end(), 0.0) /
         static_cast<double>(count);
}

}  // namespace trainyard::controller

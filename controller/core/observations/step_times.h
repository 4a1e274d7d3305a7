// Newest step times of an attempt.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_STEP_TIMES_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_STEP_TIMES_H_

#include <cstddef>
#include <deque>
#include <initializer_list>

namespace trainyard::controller {

inline constexpr std::size_t kStepTimesKept = 256;

// Up to kStepTimesKept step times in seconds, each above 0. Not thread-safe.
class StepTimes {
 public:
  StepTimes() = default;
  StepTimes(std::initializer_list<double> seconds);

  void Add(double seconds);

  bool empty() const { return seconds_.empty(); }
  std::size_t size() const { return seconds_.size(); }
  // 0 if empty, like Pace, Slow and Longest.
  double Newest() const;

  // Mean of the newest 16: seconds per step at the current pace.
  double Pace() const;

  // 99th percentile, rounded down: among 2 to 101 times it is the second largest, so that one slow
  // step proves nothing. Computed by Add, because every report of a rank reads it.
  double Slow() const { return slow_; }

  // The longest time: with few known times, the only bound on the next one.
  double Longest() const;

 private:
  std::deque<double> seconds_;
  double slow_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_STEP_TIMES_H_

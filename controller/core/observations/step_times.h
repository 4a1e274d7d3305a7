// Newest step times of an attempt.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_STEP_TIMES_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_STEP_TIMES_H_

#include <cstddef>
#include <deque>
#include <initializer_list>

namespace trainyard::controller {

inline constexpr std::size_t kStepTimesKept = 256;

// Up to kStepTimesKept step times in seconds. Each is above 0. Not thread-safe.
class StepTimes {
 public:
  StepTimes() = default;
  StepTimes(std::initializer_list<double> seconds);

  void Add(double seconds);

  bool empty() const { return seconds_.empty(); }
  std::size_t size() const { return seconds_.size(); }
  // Newest, Pace, Slow and Longest return 0 if there are no times.
  double Newest() const;

  // Returns the mean of the newest 16 times, which is the current pace in seconds per step.
  double Pace() const;

  // Returns the 99th percentile, rounded down. With 2 to 101 times this is the second largest time,
  // so a single slow step has no effect. Computed by Add, because every report of a rank reads it.
  double Slow() const { return slow_; }

  // Returns the longest time. While only a few times are known, it is the best estimate of how long
  // the next step may take.
  double Longest() const;

 private:
  std::deque<double> seconds_;
  double slow_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_STEP_TIMES_H_

// Newest step times of an attempt.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_STEP_TIMES_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_STEP_TIMES_H_

#include <cstddef>
#include <deque>
#include <initializer_list>

namespace trainyard::controller {

inline constexpr std::size_t kStepTimesKept = 256;

// At most kStepTimesKept times in seconds, each above 0. One thread.
class StepTimes {
 public:
  StepTimes() = default;
  StepTimes(std::initializer_list<double> seconds);

  void Add(double seconds);

  bool empty() const { return seconds_.empty(); }
  std::size_t size() const { return seconds_.size(); }
  // 0 when empty, as Pace and Slow.
  double Newest() const;

  // Mean of the newest 16: the seconds of a step at the present pace.
  double Pace() const;

  // The 99th percentile, rounded down: of 2 to 101 times the second largest, so that one slow step
  // proves nothing. Computed when a time is added, since it is read with every report of a rank.
  double Slow() const { return slow_; }

  // The longest one: where few are known, the only one that bounds the next.
  double Longest() const;

 private:
  std::deque<double> seconds_;
  double slow_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_STEP_TIMES_H_

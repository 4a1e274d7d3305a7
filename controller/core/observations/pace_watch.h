// Detects a run that has become slow, by comparing its rate with its own best rate.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_PACE_WATCH_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_PACE_WATCH_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/observations/lost_periods.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// A run is slow if its rate falls below this fraction of its own best rate.
inline constexpr double kSlowRateRatio = 0.8;
// A window of rates ends after this time, but only once it has kFewestRates rates.
inline constexpr int64_t kPaceWindowMs = 10'000;
inline constexpr std::size_t kFewestRates = 5;

// The rates of a job are grouped into consecutive windows. The rate of a window is the median of
// its rates. The best rate is the rate of the second fastest window, so that one lucky window does
// not make all others look slow.
class PaceWatch {
 public:
  // The kind of rate. Rates of different kinds are never compared.
  enum class Unit { kTokens, kSteps };

  struct Slowdown {
    double ratio = 0;        // The rate of the newest window, as a fraction of the best rate.
    Timestamp since_ms = 0;  // The start of the first of the consecutive slow windows.
  };

  struct Step {
    Unit unit = Unit::kSteps;
    double rate = 0;  // Above 0.
    Timestamp time = 0;
    // The lost time of a diverging step counts as diverging, not as slow.
    bool is_diverging = false;
    // The part of the time since the previous rate in which the gang waited for data. The ledger
    // has a separate phase for this wait, so the wait does not count as slow.
    int64_t data_wait_ms = 0;
  };

  // Adds the rate of one step of `attempt`. `layout` identifies the size and layout of the gang: if
  // `layout` changes, the comparison begins anew. The first window of each attempt is not used,
  // because programs compile and fill caches in their first steps. Once the gang has reported a
  // rate in tokens, rates in steps are ignored, because some programs report tokens only in some of
  // their records.
  void Add(int64_t attempt, const std::string& layout, const Step& step);

  // Adjusts to a step of the controller's clock by `step_ms`.
  void Shift(int64_t step_ms);

  // Returns nullopt if the newest window of `attempt` is not slow, or if there are fewer than two
  // windows to compare it with.
  std::optional<Slowdown> SlowdownOf(int64_t attempt) const;

  // Returns the time that the steps of `attempt` lost compared with the best rate. Returns nullptr
  // if `attempt` is not the newest attempt with rates.
  const LostPeriods* LostIn(int64_t attempt) const;

 private:
  void Begin(int64_t attempt);
  void CloseWindow(Timestamp now);
  void AddTimes(const Step& step);
  // Returns the training time in the open window. A gap between rates counts as at most three
  // median gaps, so that a stall does not count.
  int64_t TrainedMs() const;

  int64_t attempt_ = 0;
  std::string layout_;
  Unit unit_ = Unit::kSteps;
  // True until the first window of the attempt is complete.
  bool warming_up_ = true;
  // The rates of the open window, and the milliseconds between them in which the run was not
  // diverging. opened_ms_ is the start of the window; 0 if no window is open.
  std::vector<float> rates_;
  std::vector<int64_t> gaps_ms_;
  int64_t data_wait_ms_ = 0;  // The time in the open window in which the gang waited for data.
  // The times of the newest rate, and of the newest rate before the window.
  Timestamp newest_ms_ = 0;
  Timestamp from_ms_ = 0;
  Timestamp opened_ms_ = 0;
  // The rates of the two fastest windows, the faster window first. 0 if there is no such window.
  std::array<double, 2> best_{};
  std::optional<Slowdown> slow_;
  LostPeriods lost_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_PACE_WATCH_H_

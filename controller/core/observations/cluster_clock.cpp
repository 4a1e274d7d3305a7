#include "controller/core/observations/cluster_clock.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

// Returns false for the time of a clock that was never set. With such a time, times in the state
// would become negative.
bool IsPlausible(Timestamp wall_ms) {
  constexpr Timestamp kEarliestMs = 946'684'800'000;    // The year 2000.
  constexpr Timestamp kLatestMs = 253'402'300'800'000;  // The year 10,000.
  return kEarliestMs <= wall_ms && wall_ms < kLatestMs;
}

// Returns true if `known` was recorded on this boot. If steady time is behind the newest event,
// `known` comes from another machine, or from a container with its own steady time.
bool IsSameBoot(const v1::ClusterClock& known, const std::string& boot_id,
                const ClockReading& reading) {
  return known.boot_id() == boot_id &&
         known.boot_time_ms() + reading.steady_ms > known.newest_ms() - kClockStepMs;
}

std::string DoubtAbout(int64_t ahead_ms) {
  if (ahead_ms < 0) {
    return absl::StrCat("the wall clock is ", -ahead_ms / 1000,
                        " s behind the newest event, so the controller's downtime counts as 0 s; "
                        "correct the clock (chronyc tracking)");
  }
  if (ahead_ms <= kUndoubtedGapMs) return "";
  return absl::StrCat("the newest event is ", ahead_ms / 3'600'000,
                      " h old by the wall clock. After a reboot or on another machine, the "
                      "controller cannot verify the wall clock, so check it. If it is wrong, the "
                      "time ledgers of the jobs that were running are wrong too");
}

std::string DifferenceText(int64_t error_ms) {
  return absl::StrCat("the wall clock of this controller's machine is ",
                      DurationText(std::abs(error_ms)), error_ms > 0 ? " ahead of" : " behind",
                      " that of the previous leader; all times are shifted by the difference, and "
                      "durations do not change. Correct the clocks of both machines (chronyc "
                      "tracking)");
}

// Returns the event for a start on another boot than the controller's last start: after a reboot,
// or on another machine.
v1::ClockSet OnAnotherBoot(const v1::ClusterClock& known, const std::string& boot_id,
                           const ClockReading& reading, std::optional<int64_t> since_newest_ms) {
  const Timestamp newest_ms = known.newest_ms();
  const bool is_known = newest_ms > 0;
  v1::ClockSet set;
  set.set_boot_id(boot_id);
  if (is_known && IsPlausible(newest_ms) && !IsPlausible(reading.wall_ms)) {
    set.set_boot_time_ms(newest_ms - reading.steady_ms);
    set.set_doubt(DoubtAbout(reading.wall_ms - newest_ms));
    return set;
  }
  set.set_boot_time_ms(reading.wall_ms - reading.steady_ms);
  if (!is_known) return set;
  const int64_t ahead_ms = reading.wall_ms - newest_ms;
  const int64_t error_ms = ahead_ms - since_newest_ms.value_or(ahead_ms);
  if (std::abs(error_ms) > kMeasuredGapToleranceMs) {
    set.set_step_ms(error_ms);
    set.set_assumed_ms(*since_newest_ms);
    set.set_doubt(DifferenceText(error_ms));
    return set;
  }
  set.set_step_ms(std::min<int64_t>(ahead_ms, 0));
  set.set_assumed_ms(std::max<int64_t>(ahead_ms, 0));
  set.set_doubt(DoubtAbout(ahead_ms));
  return set;
}

}  // namespace

ClusterClock::ClusterClock(const v1::ClusterClock& known, const std::string& boot_id,
                           const ClockReading& reading, std::optional<int64_t> since_newest_ms)
    : boot_id_(boot_id), boot_time_ms_(known.boot_time_ms()) {
  if (IsSameBoot(known, boot_id, reading)) return;
  due_at_start_ = OnAnotherBoot(known, boot_id, reading, since_newest_ms);
  boot_time_ms_ = due_at_start_->boot_time_ms();
}

std::optional<v1::ClockSet> ClusterClock::Due(const ClockReading& reading) const {
  if (due_at_start_.has_value()) return due_at_start_;
  const int64_t step_ms = reading.wall_ms - TimeAt(reading);
  if (std::abs(step_ms) < kClockStepMs || !IsPlausible(reading.wall_ms)) return std::nullopt;
  v1::ClockSet set;
  set.set_boot_id(boot_id_);
  set.set_boot_time_ms(boot_time_ms_ + step_ms);
  set.set_step_ms(step_ms);
  return set;
}

std::string ClockWarning(const v1::ClusterClock& known, const Observations& observations) {
  constexpr int64_t kToleranceMs = 600'000;
  std::vector<int64_t> ahead;
  for (const auto& [id, node] : observations.nodes) {
    if (const auto ahead_ms = node.clock.AheadMs(); node.attached && ahead_ms.has_value()) {
      ahead.push_back(*ahead_ms);
    }
  }
  if (ahead.empty()) return known.doubt();
  const auto middle = ahead.begin() + static_cast<std::ptrdiff_t>(ahead.size() / 2);
  std::ranges::nth_element(ahead, middle);
  if (std::abs(*middle) <= kToleranceMs) return "";
  return absl::StrCat("the controller's clock is ", DurationText(std::abs(*middle)),
                      *middle < 0 ? " ahead of" : " behind",
                      " the clocks of most workers; compare the clocks (chronyc tracking)");
}

int64_t ClusterClock::Take(const v1::ClockSet& set) {
  const int64_t moved_ms = set.boot_time_ms() - boot_time_ms_;
  boot_time_ms_ = set.boot_time_ms();
  return moved_ms;
}

}  // namespace trainyard::controller

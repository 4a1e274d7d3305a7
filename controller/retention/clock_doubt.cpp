#include "controller/retention/clock_doubt.h"

#include "absl/strings/str_cat.h"

namespace trainyard::controller {
namespace {

constexpr int64_t kHourMs = 3'600'000;

}  // namespace

std::string ClockDoubt::Check(Timestamp wall_ms, Steady now) {
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now - known_at_);
  const int64_t ahead_ms = wall_ms - (known_ms_ + passed.count());
  // Doubt only a clock that is ahead. If the clock is behind, too little is removed, and later
  // passes remove the rest.
  const bool is_ahead = known_ms_ > 0 && ahead_ms > tolerance_ms_;
  if (!is_ahead || (since_.has_value() && now - *since_ >= kDoubtLasts)) {
    known_ms_ = wall_ms;
    known_at_ = now;
    tolerance_ms_ = kToleranceMs;
    since_.reset();
    return "";
  }
  if (!since_.has_value()) since_ = now;
  const auto left = kDoubtLasts - (now - *since_);
  return absl::StrCat(
      "the clock of the controller's machine is ", ahead_ms / kHourMs, " h ",
      ahead_ms % kHourMs / 60'000,
      " min ahead of the expected time, so no data is removed by age for ",
      std::chrono::ceil<std::chrono::hours>(left).count(),
      " more hours of uptime; correct the clock (chronyc tracking), or wait if the clock is right");
}

}  // namespace trainyard::controller

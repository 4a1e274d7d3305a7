#include "controller/core/observations/lost_periods.h"

#include <algorithm>

namespace trainyard::controller {
namespace {

constexpr int64_t kShortestMs = 60'000;
constexpr int64_t kPartOfAge = 10;
// The controller records a period within a second after it is complete, so only recorded periods
// are dropped.
constexpr std::size_t kMostComplete = 64;

}  // namespace

void LostPeriods::Add(Timestamp since_ms, Timestamp until_ms, int64_t lost_ms) {
  if (until_ms <= since_ms) return;
  if (began_ms_ == 0) began_ms_ = since_ms;
  if (!open_.has_value()) open_ = {since_ms, since_ms, 0};
  open_->until_ms = std::max(open_->until_ms, until_ms);
  open_->lost_ms += std::clamp<int64_t>(lost_ms, 0, until_ms - since_ms);
  const int64_t age_ms = open_->until_ms - began_ms_;
  const int64_t least_ms = std::max(kShortestMs, age_ms / kPartOfAge);
  if (open_->until_ms - open_->since_ms < least_ms) return;
  Complete();
}

void LostPeriods::End() {
  began_ms_ = 0;
  if (!open_.has_value()) return;
  const bool is_due =
      complete_.empty() || open_->until_ms - complete_.back().until_ms >= kShortestMs;
  if (is_due) Complete();
}

void LostPeriods::Complete() {
  complete_.push_back(*open_);
  open_.reset();
  if (complete_.size() > kMostComplete) complete_.pop_front();
}

void LostPeriods::Shift(int64_t step_ms) {
  const auto shift = [=](Period& period) {
    period.since_ms += step_ms;
    period.until_ms += step_ms;
  };
  if (began_ms_ != 0) began_ms_ += step_ms;
  if (open_.has_value()) shift(*open_);
  std::ranges::for_each(complete_, shift);
}

std::optional<LostPeriods::Lost> LostPeriods::Unrecorded(Timestamp recorded_until_ms,
                                                         Scope scope) const {
  Lost lost;
  const auto add = [&](const Period& period) {
    if (period.until_ms <= recorded_until_ms) return;
    lost.until_ms = std::max(lost.until_ms, period.until_ms);
    // After a restart of the controller, records that were not stored arrive again. A period may
    // therefore begin before the end of the newest recorded period.
    const Timestamp from_ms = std::max(period.since_ms, recorded_until_ms);
    const double part = static_cast<double>(period.until_ms - from_ms) /
                        static_cast<double>(period.until_ms - period.since_ms);
    lost.lost_ms += static_cast<int64_t>(part * static_cast<double>(period.lost_ms));
  };
  std::ranges::for_each(complete_, add);
  if (open_.has_value() && scope == Scope::kAll) add(*open_);
  if (lost.lost_ms == 0) return std::nullopt;
  return lost;
}

}  // namespace trainyard::controller

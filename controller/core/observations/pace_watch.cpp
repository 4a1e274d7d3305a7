#include "controller/core/observations/pace_watch.h"

#include <algorithm>

namespace trainyard::controller {
namespace {

// Bounds the memory of a job with very short steps.
constexpr std::size_t kMostRates = 1000;

}  // namespace

void PaceWatch::Add(int64_t attempt, const std::string& layout, Unit unit, double rate,
                    Timestamp now) {
  if (attempt < attempt_) return;
  if (layout != layout_ || unit != unit_) {
    *this = PaceWatch();
    layout_ = layout;
    unit_ = unit;
  }
  if (attempt > attempt_) {
    attempt_ = attempt;
    warming_up_ = true;
    rates_.clear();
    slow_.reset();
  }
  if (rates_.empty()) opened_ms_ = now;
  if (rates_.size() < kMostRates) rates_.push_back(static_cast<float>(rate));
  if (rates_.size() >= kFewestRates && now - opened_ms_ >= kPaceWindowMs) CloseWindow(now);
}

void PaceWatch::CloseWindow(Timestamp now) {
  const auto middle = rates_.begin() + static_cast<std::ptrdiff_t>(rates_.size() / 2);
  std::ranges::nth_element(rates_, middle);
  const double rate = *middle;
  rates_.clear();
  const Timestamp opened_ms = opened_ms_;
  opened_ms_ = now;
  if (warming_up_) {
    warming_up_ = false;
    return;
  }
  if (best_[1] > 0 && rate < kSlowRateRatio * best_[1]) {
    slow_ = {rate / best_[1], slow_.has_value() ? slow_->since_ms : opened_ms};
  } else {
    slow_.reset();
  }
  if (rate > best_[0]) {
    best_ = {rate, best_[0]};
  } else if (rate > best_[1]) {
    best_[1] = rate;
  }
}

void PaceWatch::Shift(int64_t step_ms) {
  if (opened_ms_ != 0) opened_ms_ += step_ms;
  if (slow_.has_value()) slow_->since_ms += step_ms;
}

std::optional<PaceWatch::Slowdown> PaceWatch::SlowdownOf(int64_t attempt) const {
  return attempt == attempt_ ? slow_ : std::nullopt;
}

}  // namespace trainyard::controller

#include "controller/core/observations/pace_watch.h"

#include <algorithm>
#include <utility>

namespace trainyard::controller {
namespace {

// Bounds the memory of a job with very short steps.
constexpr std::size_t kMostRates = 1000;
// Bounds the time between two rates, because this time comes from the clock of a program.
constexpr int64_t kLongestGapMs = 86'400'000;

}  // namespace

void PaceWatch::Add(int64_t attempt, const std::string& layout, const Step& step) {
  const bool has_tokens = layout == layout_ && unit_ == Unit::kTokens;
  if (attempt < attempt_ || (has_tokens && step.unit == Unit::kSteps)) return;
  if (layout != layout_ || step.unit != unit_) {
    *this = PaceWatch();
    layout_ = layout;
    unit_ = step.unit;
  }
  if (attempt > attempt_) Begin(attempt);
  if (rates_.empty()) {
    opened_ms_ = step.time;
    from_ms_ = newest_ms_ == 0 ? step.time : newest_ms_;
  }
  if (rates_.size() < kMostRates) {
    AddTimes(step);
    rates_.push_back(static_cast<float>(step.rate));
  }
  newest_ms_ = step.time;
  const bool is_long = step.time - opened_ms_ >= kPaceWindowMs;
  if (rates_.size() >= kFewestRates && is_long) CloseWindow(step.time);
}

void PaceWatch::AddTimes(const Step& step) {
  const bool counts = newest_ms_ != 0 && !step.is_diverging;
  const int64_t gap_ms = counts ? std::clamp<int64_t>(step.time - newest_ms_, 0, kLongestGapMs) : 0;
  gaps_ms_.push_back(gap_ms);
  data_wait_ms_ += std::clamp<int64_t>(step.data_wait_ms, 0, gap_ms);
}

void PaceWatch::Begin(int64_t attempt) {
  attempt_ = attempt;
  warming_up_ = true;
  rates_.clear();
  gaps_ms_.clear();
  data_wait_ms_ = 0;
  slow_.reset();
  newest_ms_ = 0;
  lost_ = LostPeriods();
}

int64_t PaceWatch::TrainedMs() const {
  std::vector<int64_t> gaps = gaps_ms_;
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::ranges::nth_element(gaps, middle);
  const int64_t longest_ms = 3 * *middle;
  int64_t trained_ms = 0;
  for (const int64_t gap_ms : gaps) trained_ms += std::min(gap_ms, longest_ms);
  return trained_ms;
}

void PaceWatch::CloseWindow(Timestamp now) {
  const auto middle = rates_.begin() + static_cast<std::ptrdiff_t>(rates_.size() / 2);
  std::ranges::nth_element(rates_, middle);
  const double rate = *middle;
  const int64_t trained_ms = TrainedMs();
  const int64_t data_wait_ms = std::exchange(data_wait_ms_, 0);
  rates_.clear();
  gaps_ms_.clear();
  const Timestamp opened_ms = opened_ms_;
  opened_ms_ = now;
  if (warming_up_) {
    warming_up_ = false;
    return;
  }
  if (best_[1] > 0 && rate < kSlowRateRatio * best_[1]) {
    slow_ = {rate / best_[1], slow_.has_value() ? slow_->since_ms : opened_ms};
    const double lost_ms = (1 - slow_->ratio) * static_cast<double>(trained_ms);
    lost_.Add(from_ms_, now, static_cast<int64_t>(lost_ms) - data_wait_ms);
  } else {
    slow_.reset();
    lost_.End();
  }
  if (rate > best_[0]) {
    best_ = {rate, best_[0]};
  } else if (rate > best_[1]) {
    best_[1] = rate;
  }
}

void PaceWatch::Shift(int64_t step_ms) {
  if (opened_ms_ != 0) opened_ms_ += step_ms;
  if (newest_ms_ != 0) newest_ms_ += step_ms;
  if (from_ms_ != 0) from_ms_ += step_ms;
  lost_.Shift(step_ms);
  if (slow_.has_value()) slow_->since_ms += step_ms;
}

std::optional<PaceWatch::Slowdown> PaceWatch::SlowdownOf(int64_t attempt) const {
  return attempt == attempt_ ? slow_ : std::nullopt;
}

const LostPeriods* PaceWatch::LostIn(int64_t attempt) const {
  return attempt == attempt_ ? &lost_ : nullptr;
}

}  // namespace trainyard::controller

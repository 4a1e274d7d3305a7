#include "controller/core/observations/loss_watch.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace trainyard::controller {
namespace {

// The ratio of the standard deviation to the median absolute deviation of a normal distribution.
constexpr double kDeviationsOfMad = 1.4826;
// The minimum spread, as a fraction of the median. Losses that are nearly equal have no measurable
// spread.
constexpr double kLeastSpread = 0.01;

double MedianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

std::optional<LossFinding> LossWatch::Add(const v1::GuardSpec& rules, int64_t attempt,
                                          int64_t resume_step, int64_t step, double loss) {
  if (attempt < attempt_) return std::nullopt;
  if (attempt > attempt_) Begin(attempt, resume_step);
  if (step <= newest_step_) return std::nullopt;
  newest_step_ = step;
  if (loss <= level_before_) LeaveSpikes();
  LossFinding finding{LossProblem::kNotFinite, loss, "the loss is not finite"};
  if (std::isfinite(loss)) {
    const std::optional<std::string> evidence = Judge(rules, loss);
    if (!evidence.has_value()) {
      Keep(rules, step, loss);
      return std::nullopt;
    }
    finding = {LossProblem::kSpike, loss, *evidence};
  }
  if (++spikes_in_a_row_ > 1) {
    // If rules.window() consecutive losses spike, the loss has reached a new level, so the window
    // restarts from these losses.
    if (spikes_in_a_row_ >= rules.window()) RestartWindow(rules, loss);
    return std::nullopt;
  }
  return finding;
}

void LossWatch::RestartWindow(const v1::GuardSpec& rules, double loss) {
  std::vector<double> losses;
  for (const auto& [step, value] : window_) losses.push_back(value);
  const double highest = losses.empty() ? 0 : rules.spike_ratio() * MeanOf(losses);
  if (level_before_ == 0 && highest > 0 && loss > highest) level_before_ = highest;
  if (level_before_ > 0) spikes_before_ += spikes_in_a_row_;
  window_.clear();
  spikes_in_a_row_ = 0;
}

void LossWatch::LeaveSpikes() {
  level_before_ = 0;
  spikes_before_ = 0;
}

// Drops the losses of steps after the attempt's starting point. Otherwise the attempt's first
// losses would be compared with the losses of a model that was trained for longer.
void LossWatch::Begin(int64_t attempt, int64_t resume_step) {
  attempt_ = attempt;
  newest_step_ = resume_step;
  spikes_in_a_row_ = 0;
  LeaveSpikes();
  while (!window_.empty() && window_.back().first > resume_step) window_.pop_back();
}

std::optional<std::string> LossWatch::Judge(const v1::GuardSpec& rules, double loss) const {
  if (window_.empty() || static_cast<int64_t>(window_.size()) < rules.min_points()) {
    return std::nullopt;
  }
  std::vector<double> losses;
  for (const auto& [step, value] : window_) losses.push_back(value);
  const double mean = MeanOf(losses);
  const bool is_above_mean = loss > rules.spike_ratio() * mean && loss - mean >= rules.min_rise();
  if (rules.spike_ratio() > 0 && mean > 0 && is_above_mean) {
    return absl::StrFormat("the loss %.4g is %.1f times the mean (%.4g) of the last %d losses",
                           loss, loss / mean, mean, losses.size());
  }
  if (rules.z_score() <= 0) return std::nullopt;
  const double median = MedianOf(losses);
  for (double& value : losses) value = std::abs(value - median);
  const double spread =
      std::max(kDeviationsOfMad * MedianOf(losses), kLeastSpread * std::abs(median));
  const double least_rise = std::max(rules.z_score() * spread, rules.min_rise());
  if (spread <= 0 || loss <= median + least_rise) return std::nullopt;
  return absl::StrFormat(
      "the loss %.4g is %.1f robust standard deviations above the median (%.4g) of the last %d "
      "losses",
      loss, (loss - median) / spread, median, losses.size());
}

void LossWatch::Keep(const v1::GuardSpec& rules, int64_t step, double loss) {
  spikes_in_a_row_ = 0;
  window_.emplace_back(step, loss);
  while (static_cast<int64_t>(window_.size()) > rules.window()) window_.pop_front();
}

void LossWatch::Recover(const v1::GuardSpec& rules, int64_t attempt,
                        const std::vector<std::pair<int64_t, double>>& losses) {
  if (attempt < attempt_) return;
  const LossWatch since = std::move(*this);
  *this = LossWatch();
  for (const auto& [step, loss] : losses) {
    const bool is_older = since.window_.empty() || step < since.window_.front().first;
    if (is_older) Add(rules, attempt, 0, step, loss);
  }
  for (const auto& [step, loss] : since.window_) Keep(rules, step, loss);
  if (since.attempt_ == 0) return;
  attempt_ = since.attempt_;
  newest_step_ = std::max(newest_step_, since.newest_step_);
  spikes_in_a_row_ = since.spikes_in_a_row_;
}

}  // namespace trainyard::controller

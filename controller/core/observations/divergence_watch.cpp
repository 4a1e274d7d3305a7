#include "controller/core/observations/divergence_watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "controller/core/observations/data_wait.h"
#include "proto/contract/telemetry_keys.h"

namespace trainyard::controller {

bool DivergenceWatch::CountsNans(const v1::MetricsRecord& metrics) {
  const auto count = metrics.values().find(telemetry::kNanIterations);
  if (count == metrics.values().end()) return false;
  const double before = std::exchange(nan_iterations_, count->second);
  return count->second > 0 && count->second != before;
}

void DivergenceWatch::Advance(Timestamp time, int64_t data_wait_ms) {
  constexpr int64_t kLeastPauseMs = 5000;
  constexpr int64_t kLongestGapMs = 86'400'000;
  if (time <= newest_ms_) return;
  const Timestamp before_ms = std::exchange(newest_ms_, time);
  if (before_ms == 0) return;
  const int64_t longest_ms = std::max(kLeastPauseMs, 3 * gap_ms_);
  gap_ms_ = std::min(time - before_ms, kLongestGapMs);
  if (!divergence().has_value()) return;
  lost_.Add(before_ms, time, std::min(gap_ms_, longest_ms) - data_wait_ms);
}

void DivergenceWatch::Add(const v1::MetricsRecord& metrics, Timestamp time) {
  Advance(time, DataWaitMs(metrics));
  JudgeMetrics(metrics, time);
  if (!divergence().has_value()) lost_.End();
}

void DivergenceWatch::JudgeMetrics(const v1::MetricsRecord& metrics, Timestamp time) {
  const auto loss = metrics.values().find(telemetry::kLoss);
  const auto norm = metrics.values().find(telemetry::kGradNorm);
  const bool has_loss = loss != metrics.values().end();
  const bool has_norm = norm != metrics.values().end();
  const bool counts_nans = CountsNans(metrics);
  if (!has_loss && !has_norm && !counts_nans) return;
  const bool bad_loss = has_loss && !std::isfinite(loss->second);
  const bool bad_norm = has_norm && !std::isfinite(norm->second);
  if (!bad_loss && !bad_norm && !counts_nans) {
    in_a_row_ = 0;
    not_finite_.reset();
    return;
  }
  if (++in_a_row_ == 1) {
    first_ = {bad_loss || !bad_norm ? telemetry::kLoss : telemetry::kGradNorm, metrics.step(),
              time};
  }
  if (!not_finite_.has_value() && (bad_loss || in_a_row_ >= kNormsInARow)) not_finite_ = first_;
}

void DivergenceWatch::AddSpikes(int64_t spikes_in_a_row, int64_t step) {
  spikes_persist_ = spikes_in_a_row >= kSpikesInARow;
  if (spikes_in_a_row == 0) {
    spiking_.reset();
  } else if (!spiking_.has_value()) {
    spiking_ = {"", step, newest_ms_};
  }
  if (!divergence().has_value()) lost_.End();
}

void DivergenceWatch::Shift(int64_t step_ms) {
  first_.since_ms += step_ms;
  if (not_finite_.has_value()) not_finite_->since_ms += step_ms;
  if (spiking_.has_value()) spiking_->since_ms += step_ms;
  if (newest_ms_ != 0) newest_ms_ += step_ms;
  lost_.Shift(step_ms);
}

std::optional<DivergenceWatch::Divergence> DivergenceWatch::divergence() const {
  if (not_finite_.has_value()) return not_finite_;
  return spikes_persist_ ? spiking_ : std::nullopt;
}

}  // namespace trainyard::controller

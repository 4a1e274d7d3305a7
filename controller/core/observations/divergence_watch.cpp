#include "controller/core/observations/divergence_watch.h"

#include <cmath>
#include <utility>

#include "proto/contract/telemetry_keys.h"

namespace trainyard::controller {

bool DivergenceWatch::CountsNans(const v1::MetricsRecord& metrics) {
  const auto count = metrics.values().find(telemetry::kNanIterations);
  if (count == metrics.values().end()) return false;
  const double before = std::exchange(nan_iterations_, count->second);
  return count->second > 0 && count->second != before;
}

void DivergenceWatch::Add(const v1::MetricsRecord& metrics, Timestamp time) {
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
    divergence_.reset();
    return;
  }
  if (++in_a_row_ == 1) {
    first_ = {bad_loss || !bad_norm ? telemetry::kLoss : telemetry::kGradNorm, metrics.step(),
              time};
  }
  if (!divergence_.has_value() && (bad_loss || in_a_row_ >= kNormsInARow)) divergence_ = first_;
}

void DivergenceWatch::Shift(int64_t step_ms) {
  first_.since_ms += step_ms;
  if (divergence_.has_value()) divergence_->since_ms += step_ms;
}

}  // namespace trainyard::controller

#include "trainer/report/metric_values.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "proto/contract/telemetry_keys.h"
#include "proto/rules/loss_scale_rules.h"
#include "trainer/step/group_norms.h"

namespace trainyard::trainer {
namespace {

// The maximum number of norms in one record. The worker accepts 256 keys per record
// (worker/tail/telemetry_line.h), including the keys that every record has.
constexpr size_t kNormsOfRecord = 200;

}  // namespace

double TrainingPerplexity(double loss) {
  constexpr double kLargestLoss = 20;
  return std::exp(std::min(loss, kLargestLoss));
}

MetricValues LossValues(double loss, double grad_norm, double learning_rate) {
  MetricValues values;
  if (std::isfinite(loss)) {
    values = {{telemetry::kLoss, loss}, {telemetry::kPerplexity, TrainingPerplexity(loss)}};
  }
  if (std::isfinite(grad_norm)) values.emplace_back(telemetry::kGradNorm, grad_norm);
  values.emplace_back(telemetry::kLearningRate, learning_rate);
  return values;
}

MetricValues LossScaleValues(const TrainConfig& train, const LossScale& state) {
  if (!ScalesLoss(train)) return {};
  return {{telemetry::kLossScale, state.scale},
          {telemetry::kSkippedSteps, static_cast<double>(state.skipped_steps)}};
}

MetricValues MainValues(const StepReport& report) {
  MetricValues values = LossValues(report.loss, report.grad_norm, report.learning_rate);
  values.insert(values.end(), {{telemetry::kStepSeconds, report.step_seconds},
                               {telemetry::kTokensPerSecond, report.tokens_per_second},
                               {telemetry::kSamplesPerSecond, report.samples_per_second}});
  if (report.mfu > 0) {
    values.emplace_back(telemetry::kMfu, report.mfu);
    values.emplace_back(telemetry::kMfuCausal, report.mfu_causal);
  }
  return values;
}

std::vector<MetricValues> PartNormRecords(const ModelConfig& model,
                                          const std::vector<double>& norms) {
  const std::vector<std::string> names = GradientPartNames(model);
  std::vector<MetricValues> records;
  for (size_t i = 0; i < norms.size(); ++i) {
    if (i % kNormsOfRecord == 0) records.emplace_back();
    records.back().emplace_back(telemetry::GradientNormOf(names[i]), norms[i]);
  }
  return records;
}

MetricValues NoiseValues(const std::optional<BatchGradients>& batches,
                         const NoiseScaleAverage& average) {
  if (!batches.has_value()) return {};
  const NoiseEstimate estimate = EstimateNoise(*batches);
  MetricValues values = {{telemetry::kNoiseGradient, estimate.gradient},
                         {telemetry::kNoiseTrace, estimate.trace}};
  if (const std::optional<double> scale = average.Scale()) {
    values.emplace_back(telemetry::kNoiseScale, *scale);
  }
  return values;
}

}  // namespace trainyard::trainer

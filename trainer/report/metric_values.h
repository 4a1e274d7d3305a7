// Builds the values of `metrics` records from the results of a step. Pure functions.
#ifndef TRAINYARD_TRAINER_REPORT_METRIC_VALUES_H_
#define TRAINYARD_TRAINER_REPORT_METRIC_VALUES_H_

#include <optional>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/report/run_report.h"
#include "trainer/step/gradient_noise.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// exp(loss), with the loss capped at 20 as in Megatron-LM, so that charts stay readable when
// training diverges.
double TrainingPerplexity(double loss);

// Values of one step; the same on every rank.
MetricValues LossValues(double loss, double grad_norm, double learning_rate);

MetricValues MainValues(const StepReport& report);

// Gradient norms of the model's parts (GradientPartNames), split into records within the worker's
// key limit.
std::vector<MetricValues> PartNormRecords(const ModelConfig& model,
                                          const std::vector<double>& norms);

// batches: of the latest step; nullopt gives no values. The noise scale is added if `average` has
// an estimate of it.
MetricValues NoiseValues(const std::optional<BatchGradients>& batches,
                         const NoiseScaleAverage& average);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_REPORT_METRIC_VALUES_H_

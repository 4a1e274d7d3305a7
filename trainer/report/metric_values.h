// Builds the values of `metrics` records from the results of a step. Pure functions only.
#ifndef TRAINYARD_TRAINER_REPORT_METRIC_VALUES_H_
#define TRAINYARD_TRAINER_REPORT_METRIC_VALUES_H_

#include <optional>
#include <vector>

#include "proto/contract/model_config.h"
#include "proto/contract/train_config.h"
#include "trainer/report/run_report.h"
#include "trainer/step/gradient_noise.h"
#include "trainer/step/loss_scale.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// Returns exp(loss). The loss is capped at 20, as in Megatron-LM, so that charts stay readable if
// training diverges.
double TrainingPerplexity(double loss);

// Returns the values of one step, which are the same on every rank. Omits a loss or norm that is
// not finite: such a value is from a step that fp16 training skips, and would look like divergence
// in a chart.
MetricValues LossValues(double loss, double grad_norm, double learning_rate);

// `state` is the state after the step. The result is empty without fp16.
MetricValues LossScaleValues(const TrainConfig& train, const LossScale& state);

MetricValues MainValues(const StepReport& report);

// Returns the gradient norms of the model's parts (GradientPartNames), split into several records
// because the worker limits the number of keys per record.
std::vector<MetricValues> PartNormRecords(const ModelConfig& model,
                                          const std::vector<double>& norms);

// `batches` are from the latest step; if nullopt, the result is empty. The result contains the
// noise scale if `average` can estimate it.
MetricValues NoiseValues(const std::optional<BatchGradients>& batches,
                         const NoiseScaleAverage& average);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_REPORT_METRIC_VALUES_H_

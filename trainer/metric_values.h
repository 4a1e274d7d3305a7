// Values of `metrics` records from the results of a step. Pure.
#ifndef TRAINYARD_TRAINER_METRIC_VALUES_H_
#define TRAINYARD_TRAINER_METRIC_VALUES_H_

#include <optional>
#include <vector>

#include "proto/contract/run_config.h"
#include "trainer/run_report.h"
#include "trainer/step/gradient_noise.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// e to the power of a loss, which counts as 20 at most, as in Megatron-LM: charts stay readable
// where training diverges.
double TrainingPerplexity(double loss);

// Of a step; the same on every rank.
MetricValues LossValues(double loss, double grad_norm, double learning_rate);

MetricValues MainValues(const StepReport& report);

// Gradient norms of the parts of a model (GradientPartNames), one after the other in records that
// the worker takes whole.
std::vector<MetricValues> PartNormRecords(const ModelConfig& model,
                                          const std::vector<double>& norms);

// batches: of the newest step. Nothing where the noise scale is not measured; its estimate from the
// averages where they tell one.
MetricValues NoiseValues(const std::optional<BatchGradients>& batches,
                         const NoiseScaleAverage& average);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_METRIC_VALUES_H_

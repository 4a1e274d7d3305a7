// Builds the telemetry of a step's balance of experts. Pure functions only.
#ifndef TRAINYARD_TRAINER_REPORT_EXPERT_VALUES_H_
#define TRAINYARD_TRAINER_REPORT_EXPERT_VALUES_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/step/expert_totals.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// Returns the values over all layers with experts. Empty if there are no layers.
MetricValues ExpertValues(const ModelConfig& model, const std::vector<LayerBalance>& layers);

// Returns the record of each layer. There must be at least one layer.
ExpertsReport ExpertsReportOf(int64_t step, const ModelConfig& model,
                              const std::vector<LayerBalance>& layers);

// Returns the time between two records with this number of loads. A record has at most 60 KiB, and
// a run writes at most 0.6 KiB of them per second.
std::chrono::seconds PauseBetweenExpertRecords(std::size_t loads);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_REPORT_EXPERT_VALUES_H_

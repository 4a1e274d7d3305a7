// The newest losses on evaluation sets, as part of a job's progress.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_EVALUATED_LOSSES_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_EVALUATED_LOSSES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::controller {

// The maximum number of sets in a job's progress, which is also the maximum of evaluation.sets.
inline constexpr int kShownEvaluationSets = 32;

// The maximum length of a set's name. Workers read only shorter names.
inline constexpr std::size_t kMaxSetNameBytes = 128;

// Sets the newest loss on the set. Ignores a set whose name is empty or too long, and a new set if
// kShownEvaluationSets sets exist.
void SetEvaluatedLoss(const std::string& set, int64_t step, double loss, v1::Progress& progress);

// Sets the losses on evaluation sets that a metrics record contains. Most records contain none.
void ObserveEvaluatedLosses(const v1::MetricsRecord& metrics, v1::Progress& progress);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_EVALUATED_LOSSES_H_

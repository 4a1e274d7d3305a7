// Explains why a running job writes no checkpoints, and what a stop has lost.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_SAVE_HINT_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_SAVE_HINT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/health.pb.h"

namespace trainyard::controller {

// Returns the finding `unsaved` if the newest save of the live attempt failed, or if it is waiting
// until it can write.
std::optional<v1::HealthFinding> WhyUnsaved(const Observations& observations,
                                            const JobEntry& entry);

// Describes what the stop of the live attempt did not save, for example "; SIGKILL ended rank 0,
// which still ran after stop_grace (8 s); steps 101 to 340 are in no checkpoint". Includes saves
// that failed. `last_step` is the highest step that the attempt reported. Empty if nothing is known
// to be lost.
std::string StopLossText(const Observations& observations, const JobEntry& entry,
                         int64_t last_step);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_SAVE_HINT_H_

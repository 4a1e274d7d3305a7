// Explains why a running job writes no checkpoints.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_SAVE_HINT_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_SAVE_HINT_H_

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

// Returns the end of a sentence that states that the stop saved no checkpoint, and why. Empty if
// the newest attempt had no trouble saving.
std::string UnsavedText(const Observations& observations, const JobEntry& entry);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_SAVE_HINT_H_

// Reasons why a running job writes no checkpoints.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_SAVE_HINT_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_SAVE_HINT_H_

#include <optional>
#include <string>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// NO_CHECKPOINT when the newest save of the live attempt failed, or waits until it can write.
std::optional<v1::PendingReason> WhyNoCheckpoint(const Observations& observations,
                                                 const JobEntry& entry);

// The end of a sentence that says that a stop saved nothing, and why: empty when the newest attempt
// had no trouble to save.
std::string UnsavedText(const Observations& observations, const JobEntry& entry);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_SAVE_HINT_H_

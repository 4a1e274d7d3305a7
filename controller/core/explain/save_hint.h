// Explains why a job writes no checkpoints, and which work the job loses as a result.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_SAVE_HINT_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_SAVE_HINT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/health.pb.h"

namespace trainyard::controller {

// Returns the finding `unsaved` if the newest save of the live attempt failed or cannot write
// yet.
std::optional<v1::HealthFinding> WhyUnsaved(const Observations& observations,
                                            const JobEntry& entry);

// Returns, for example, "; SIGKILL ended rank 0, which still ran after stop_grace (8 s)". Empty if
// the ranks of the live attempt exited by themselves, or if a user killed the job.
std::string KilledText(const JobEntry& entry);

// The steps of an attempt that a stop or a pause lost.
struct LostWork {
  int64_t steps = 0;
  // A clause that names the steps and states why they are lost. Empty if no step is lost.
  std::string text;
};

// Returns the steps that the newest attempt lost because its ranks saved no checkpoint when they
// were asked to stop. No step counts as lost if nothing shows that the save failed. `last_step`:
// the newest completed step of the attempt.
LostWork LostByStop(const Observations& observations, const JobEntry& entry, int64_t last_step);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_SAVE_HINT_H_

// Counts the restarts of a job against its restart budget.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_RESTART_BUDGET_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_RESTART_BUDGET_H_

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

void CountRestart(Timestamp now, JobEntry& entry);

// Returns the number of restarts within restart.window before `now`.
int RestartsInWindow(const JobEntry& entry, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_RESTART_BUDGET_H_

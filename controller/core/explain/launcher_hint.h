// Reports restarts of ranks by a launcher, which Trainyard neither decides nor counts.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_LAUNCHER_HINT_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_LAUNCHER_HINT_H_

#include <optional>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/planner/finding.h"

namespace trainyard::controller {

// Returns a finding if a launcher has started its ranks again in the newest attempt. Otherwise
// returns nullopt.
std::optional<planner::Finding> LauncherFinding(const Observations& observations,
                                                const JobEntry& entry);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_LAUNCHER_HINT_H_

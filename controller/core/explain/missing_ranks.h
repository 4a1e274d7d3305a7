// Names the ranks without which a gang continues.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_MISSING_RANKS_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_MISSING_RANKS_H_

#include <optional>

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/health.pb.h"

namespace trainyard::controller {

// Returns the finding `slow` if rank 0 leads the gang and other ranks were killed or are on a node
// without a heartbeat. The entry must have a live attempt.
std::optional<v1::HealthFinding> WhyRanksAreMissing(const ClusterState& state,
                                                    const JobEntry& entry);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_MISSING_RANKS_H_

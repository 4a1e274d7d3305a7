// Finds the rank whose stall or early end made its peers give up.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_STALLED_PEER_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_STALLED_PEER_H_

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Changes the verdict on a rank that lost a peer if the gang had stalled before. If flight records
// show which ranks the others waited for, the verdict becomes one on these stalled ranks, because
// the ranks that gave up waiting are not at fault. Returns true if the verdict was changed to a
// stall. The entry must have a live attempt.
bool BlameStalledPeer(const ClusterState& state, const AttemptObservation& observed,
                      const JobEntry& entry, v1::Verdict& verdict);

// Adds to the verdict on a rank that lost a peer which ranks had exited with 0 before, and why.
// Does nothing if none had. The entry must have a live attempt.
void AddEarlyExits(const AttemptObservation& observed, const JobEntry& entry, v1::Verdict& verdict);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_STALLED_PEER_H_

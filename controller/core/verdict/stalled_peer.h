// Finds the rank that failed its peers by stalling or by exiting early.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_STALLED_PEER_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_STALLED_PEER_H_

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Changes the verdict on a rank that lost a peer, if the gang had stalled before. The ranks that
// gave up waiting are not at fault. If flight records show which ranks they waited for, the verdict
// becomes a stall of those ranks. Returns true if the verdict was changed to a stall. The entry
// must have a live attempt.
bool BlameStalledPeer(const ClusterState& state, const AttemptObservation& observed,
                      const JobEntry& entry, v1::Verdict& verdict);

// For a verdict on a rank that lost a peer: adds the ranks that had already exited with 0, and the
// probable reason. Does nothing if no rank had exited. The entry must have a live attempt.
void AddEarlyExits(const AttemptObservation& observed, const JobEntry& entry, v1::Verdict& verdict);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_STALLED_PEER_H_

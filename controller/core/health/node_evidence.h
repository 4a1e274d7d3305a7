// Evidence about nodes without a heartbeat. A missing heartbeat alone is not a failure. Each
// attempt is judged by the progress of its own ranks on other nodes. A node is declared lost only
// if no healthy attempt can still be running on it.
#ifndef TRAINYARD_CONTROLLER_CORE_HEALTH_NODE_EVIDENCE_H_
#define TRAINYARD_CONTROLLER_CORE_HEALTH_NODE_EVIDENCE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Evidence from a live attempt about one of its nodes, which sends no heartbeat. Peers are the
// attempt's running ranks on nodes with recent heartbeats. A stall counts only for peers that made
// progress until the node's last heartbeat.
enum class PeerProgress {
  kMoving,   // A peer makes progress, so training continues and the node is alive.
  kStalled,  // Peers made no progress for longer than max(lost_after_ms, 3 x p99 step time).
  kUnknown,  // No peer shows progress or a stall.
};

// Returns the progress of the attempt's ranks on nodes with recent heartbeats, as evidence about
// `node_id`. If one rank makes progress, the result is kMoving, even if all others are stalled.
PeerProgress PeerProgressOf(const ClusterState& state, const Observations& observations,
                            const CoreOptions& options, const JobEntry& entry,
                            const std::string& node_id, Timestamp now);

// The nodes that have sent no heartbeat for at least CoreOptions::lost_after_ms, with the
// milliseconds since their last heartbeat. Attempts that are stopping no longer wait for these
// nodes.
using UnresponsiveNodes = std::map<std::string, int64_t>;
UnresponsiveNodes FindUnresponsiveNodes(const ClusterState& state, const Observations& observations,
                                        const CoreOptions& options, Timestamp now);

// Returns, by job id, the verdicts on running attempts that lost their ranks on an unresponsive
// node.
std::map<int64_t, v1::Verdict> VerdictsOnUnresponsiveNodes(const ClusterState& state,
                                                           const Observations& observations,
                                                           const CoreOptions& options,
                                                           const UnresponsiveNodes& unresponsive,
                                                           Timestamp now);

// Returns the NodeSuspected, NodeReturned and NodeLost events that are due.
std::vector<v1::Event> NodeEventsDue(const ClusterState& state, const Observations& observations,
                                     const CoreOptions& options, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_NODE_EVIDENCE_H_

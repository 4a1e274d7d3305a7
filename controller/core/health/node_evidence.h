// Evidence on nodes without a heartbeat. A missing heartbeat alone is no failure: each attempt is
// judged by the progress of its own ranks elsewhere, and a node is lost only when no healthy
// attempt can be at stake on it.
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

// Evidence of one live attempt on a node without a heartbeat that it has ranks on. The peers are
// its running ranks on nodes with recent heartbeats that made progress until the node's last
// heartbeat.
enum class PeerProgress {
  kMoving,   // A peer makes progress: training goes on, so the node lives.
  kStalled,  // Peers made no progress for longer than max(lost_after_ms, 3 x p99 step time).
  kUnknown,  // No peer can show progress or a stall.
};

PeerProgress PeerProgressOf(const ClusterState& state, const Observations& observations,
                            const CoreOptions& options, const JobEntry& entry,
                            const std::string& node_id, Timestamp now);

// Nodes that have sent no heartbeat for at least CoreOptions::lost_after_ms, with the milliseconds
// since their last one. Attempts that are being stopped need not wait for these nodes any more.
using UnresponsiveNodes = std::map<std::string, int64_t>;
UnresponsiveNodes FindUnresponsiveNodes(const ClusterState& state, const Observations& observations,
                                        const CoreOptions& options, Timestamp now);

// Verdicts on running attempts that have lost their ranks on an unresponsive node, by job.
std::map<int64_t, v1::Verdict> VerdictsOnUnresponsiveNodes(const ClusterState& state,
                                                           const Observations& observations,
                                                           const CoreOptions& options,
                                                           const UnresponsiveNodes& unresponsive,
                                                           Timestamp now);

// NodeSuspected, NodeReturned and NodeLost that are due.
std::vector<v1::Event> NodeEventsDue(const ClusterState& state, const Observations& observations,
                                     const CoreOptions& options, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_NODE_EVIDENCE_H_

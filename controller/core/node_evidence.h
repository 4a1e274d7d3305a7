// What silence of a node means. Losing contact is not failure: each attempt is judged by what its
// own ranks elsewhere show, and a node is lost only when nothing healthy can be at stake on it.
#ifndef TRAINYARD_CONTROLLER_CORE_NODE_EVIDENCE_H_
#define TRAINYARD_CONTROLLER_CORE_NODE_EVIDENCE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/decide.h"
#include "controller/core/observations.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// What one live attempt says about a silent node that it has ranks on. Its witnesses are its
// running ranks on heard nodes that were still moving when the node fell silent.
enum class PeerProgress {
  kMoving,   // A witness moves: training goes on, so the node lives.
  kStalled,  // Witnesses stand still since longer than their steps explain.
  kUnknown,  // Nobody can tell.
};

PeerProgress Testify(const ClusterState& state, const Observations& observations,
                     const CoreOptions& options, const JobEntry& entry, const std::string& node_id,
                     Timestamp now);

// Nodes that have been silent for at least CoreOptions::lost_after_ms, and for how many
// milliseconds. Attempts that are being stopped need not wait for them any more.
using UnresponsiveNodes = std::map<std::string, int64_t>;
UnresponsiveNodes FindUnresponsiveNodes(const ClusterState& state, const Observations& observations,
                                        const CoreOptions& options, Timestamp now);

// Verdicts on running attempts that have lost what they had on a silent node, by job.
std::map<int64_t, v1::Verdict> VerdictsOnUnresponsiveNodes(const ClusterState& state,
                                                           const Observations& observations,
                                                           const CoreOptions& options,
                                                           const UnresponsiveNodes& unresponsive,
                                                           Timestamp now);

// NodeSuspected, NodeReturned and NodeLost that are due.
std::vector<v1::Event> NodeEventsDue(const ClusterState& state, const Observations& observations,
                                     const CoreOptions& options, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_NODE_EVIDENCE_H_

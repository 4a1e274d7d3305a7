// Whether a silent node is dead. Losing contact is not failure: a node is lost only when its peers
// say so too.
#ifndef TRAINYARD_CONTROLLER_CORE_NODE_EVIDENCE_H_
#define TRAINYARD_CONTROLLER_CORE_NODE_EVIDENCE_H_

#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/decide.h"
#include "controller/core/observations.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// What one live attempt says about a silent node that it has ranks on. Its witnesses are its
// running ranks on heard nodes that were still moving when the node fell silent.
enum class Testimony {
  kMoving,       // A witness moves: training goes on, so the node lives.
  kStalled,      // Witnesses stand still since longer than their steps explain, or ended with 69.
  kUnwitnessed,  // Nobody can tell.
  kLeaving,      // The attempt is being stopped or has finished: nothing is at stake.
};

Testimony Testify(const ClusterState& state, const Observations& observations,
                  const CoreOptions& options, const JobEntry& entry, const std::string& node_id,
                  Timestamp now);

// NodeSuspected, NodeReturned and NodeLost that are due.
std::vector<v1::Event> NodeEventsDue(const ClusterState& state, const Observations& observations,
                                     const CoreOptions& options, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_NODE_EVIDENCE_H_

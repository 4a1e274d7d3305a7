// The identity of a node: the key or secret that its first Hello bound to its id.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_NODE_IDENTITY_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_NODE_IDENTITY_H_

#include "absl/status/status.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// PERMISSION_DENIED: the node id is bound to an identity that the Hello does not prove.
// hello.node_key is already verified; hello.node_secret is a hash (requests.h, AttachWorker).
absl::Status CheckNodeIdentity(const ClusterState& state, const v1::Hello& hello);

// Returns true if the event binds an additional key or secret to a known node.
bool AddsIdentity(const NodeBinding& bound, const v1::NodeJoined& joined);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_NODE_IDENTITY_H_

// Identity of a node: the key or secret bound to its id by its first Hello.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_NODE_IDENTITY_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_NODE_IDENTITY_H_

#include "absl/status/status.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// PERMISSION_DENIED if the node id is bound to another identity than the one that the Hello proves.
// hello.node_key is verified; hello.node_secret is a hash (requests.h, AttachWorker).
absl::Status CheckNodeIdentity(const ClusterState& state, const v1::Hello& hello);

// True if the event binds an additional key or secret to the known node.
bool AddsIdentity(const NodeBinding& bound, const v1::NodeJoined& joined);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_NODE_IDENTITY_H_

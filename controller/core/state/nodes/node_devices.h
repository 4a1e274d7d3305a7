// The kinds of devices of nodes.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_NODES_NODE_DEVICES_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_NODES_NODE_DEVICES_H_

#include <string>

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/node.pb.h"

namespace trainyard::controller {

// Returns the kind of device of the node's slots of one kind: the model of its GPUs, such as
// "NVIDIA H200". For a node with several models, returns all of them, sorted, such as "NVIDIA
// A100-SXM4-40GB, NVIDIA RTX A6000". All CPUs are of one kind. Empty if no slot has a model.
std::string DeviceOf(const v1::Node& node, v1::DeviceKind kind);

// Maintain state.nodes_by_device. A node must be removed before its inventory changes.
void AddDevices(const v1::Node& node, ClusterState& state);
void RemoveDevices(const v1::Node& node, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_NODES_NODE_DEVICES_H_

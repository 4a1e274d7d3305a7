// Groups of nodes from which the gang of a job is chosen.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_NODES_NODE_GROUPS_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_NODES_NODE_GROUPS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job_spec.pb.h"
#include "trainyard/v1/node.pb.h"

namespace trainyard::controller {

// A set of nodes. All nodes of a gang are in one group.
struct NodeGroup {
  // The kind of device of the nodes, as returned by DeviceOf. Empty if the cluster has no slots of
  // the kind.
  std::string device;
  // The name of the group of the topology. Empty if `placement.within` is not set.
  std::string name = {};
  // True if the group contains every node of the cluster. `nodes` is empty then.
  bool has_all = false;
  std::set<std::string> nodes;  // Ids.

  bool Contains(const std::string& node_id) const { return has_all || nodes.contains(node_id); }
};

// Returns the disjoint groups of nodes on which the job may run (`placement` of the job file), one
// for each kind of device, the largest first. If all nodes of the job must be in one group of a
// level of the topology (`placement.within`), returns one group for each kind and each group of
// this level. There is at least one group. A group may contain lost and closed nodes, and nodes
// that are too small.
std::vector<NodeGroup> GroupsOf(const ClusterState& state, const v1::JobSpec& spec,
                                v1::DeviceKind kind);

// Returns `placement` of the job file as text, which is equal for equal settings. Empty if the job
// may run on every node.
std::string PlacementKey(const v1::JobSpec& spec);

// Returns true if `placement` of the job file allows the node.
bool MayUse(const v1::JobSpec& spec, const v1::Node& node);

// Returns, for example, "3 of 12 nodes": the nodes with slots of the kind on which the job may run.
// Lost nodes are not counted.
std::string AllowedNodesText(const ClusterState& state, const v1::JobSpec& spec,
                             v1::DeviceKind kind);

// Returns the number of nodes of the group that could have a node of the gang if all slots were
// free. Lost nodes are not counted.
int CountSuitable(const ClusterState& state, const NodeGroup& group, const GangShape& shape);

// Returns the names in `placement` of the job file that are not names of nodes of the cluster, at
// most `most`.
std::vector<std::string> UnknownNames(const ClusterState& state, const v1::JobSpec& spec,
                                      std::size_t most);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_NODES_NODE_GROUPS_H_

// Directories that nodes see at the path of the checkpoint root. Nodes that read the same nonce
// share the directory. If the nodes of a gang do not share it, the gang's checkpoints are lost.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_ROOT_SIGHTINGS_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_ROOT_SIGHTINGS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job_spec.pb.h"
#include "trainyard/v1/node.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

struct RootSightings {
  // The checkpoint root. Reports about another path are ignored, such as those from before the
  // controller was restarted with another root.
  std::string path;
  // Newest report of each node. A node without a report, such as one with a worker of an older
  // release, has no entry.
  std::map<std::string, v1::CheckpointRoot> by_node;
  // Nodes by the nonce that they read; "" for nodes that read none.
  std::map<std::string, std::set<std::string>> nodes_by_nonce;
  // Nodes whose first report has not arrived yet, with the deadline for it.
  std::map<std::string, Timestamp> awaited;
  // Nonce read on the controller's own machine; empty if it sees no such directory.
  std::string controllers_nonce;
};

// Workers send the first report within this time, even if their file system does not answer.
inline constexpr int64_t kFirstRootReportMs = 15'000;

// Record a worker's report in a Hello (on attach) or a heartbeat.
void NoteRoot(const std::string& node_id, const v1::Hello& hello, Timestamp now,
              RootSightings& roots);
void NoteRoot(const std::string& node_id, const v1::Heartbeat& heartbeat, Timestamp now,
              RootSightings& roots);
void ForgetRoot(const std::string& node_id, RootSightings& roots);

// True if the job saves checkpoints below the root. A pure evaluation certainly saves none; any
// other job is assumed to save.
bool SavesInRoot(const v1::JobSpec& spec, const RootSightings& roots);

// True if a gang of this job on this many nodes cannot use arbitrary free nodes: some nodes do not
// share the root, or have not reported yet.
bool NeedsSharedRoot(const v1::JobSpec& spec, int nodes, const RootSightings& roots);

// For a gang that needs a shared root: sets of nodes to exclude, one set per shared directory,
// largest directory first. If no directory is known, one set with every node that sees none or has
// not reported.
std::vector<std::set<std::string>> NodesOutsideOfRoots(const RootSightings& roots);

// "node-1 and node-2 share one directory at /ckpt, node-3 sees another one, node-4 none: ...". Lost
// nodes are left out. Empty if all reports so far show one directory.
std::string RootDifferences(const ClusterState& state, const RootSightings& roots);

// Advice if nodes do not share the root.
std::string RootAdvice(const RootSightings& roots);

// Warning for a job that may start although nodes do not share the root: a later attempt on another
// node will not find the job's checkpoints. Empty for other jobs.
std::string RootWarning(const ClusterState& state, const v1::JobSpec& spec,
                        const RootSightings& roots);

// Check of one node for `trainyard doctor`; without a name if nothing is known about the node.
v1::NodeCheck RootCheck(const ClusterState& state, const std::string& node_id,
                        const RootSightings& roots);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_ROOT_SIGHTINGS_H_

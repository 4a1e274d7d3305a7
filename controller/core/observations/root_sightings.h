// The directories that nodes see at the path of the checkpoint root. Nodes that read the same nonce
// share a directory. If the nodes of a gang do not share one, the gang's checkpoints are lost.
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
  // The path of the checkpoint root. Reports about another path are ignored. Such a report may come
  // from a worker that has not yet learned of a new root after the controller's restart.
  std::string path;
  // The newest report of each node. Nodes without a report, such as those with a worker of an older
  // release, have no entry.
  std::map<std::string, v1::CheckpointRoot> by_node;
  // Node ids by the nonce that the nodes read. Nodes that read no nonce are under the key "".
  std::map<std::string, std::set<std::string>> nodes_by_nonce;
  // Nodes whose first report has not arrived yet, with the deadline for that report.
  std::map<std::string, Timestamp> awaited;
  // The nonce that the controller's own machine reads. Empty if the checkpoint root does not exist
  // on that machine.
  std::string controllers_nonce;
};

// Workers send their first report within this time, even if their file system does not respond.
inline constexpr int64_t kFirstRootReportMs = 15'000;

// These functions record a worker's report of the root. Workers report the root in the Hello when
// they attach, and later in heartbeats.
void NoteRoot(const std::string& node_id, const v1::Hello& hello, Timestamp now,
              RootSightings& roots);
void NoteRoot(const std::string& node_id, const v1::Heartbeat& heartbeat, Timestamp now,
              RootSightings& roots);
void ForgetRoot(const std::string& node_id, RootSightings& roots);

// Returns true if the job saves checkpoints below the root. A job that only evaluates never saves.
// Every other job is assumed to save.
bool SavesInRoot(const v1::JobSpec& spec, const RootSightings& roots);

// Returns true if the placement must consider the root: a gang of this job on this many nodes needs
// a shared root, and some nodes do not share the root or have not reported yet.
bool NeedsSharedRoot(const v1::JobSpec& spec, int nodes, const RootSightings& roots);

// For a gang that needs a shared root, returns alternative sets of nodes to exclude. There is one
// set per shared directory, in descending order of the directory's number of nodes. A set contains
// all nodes that do not share its directory. If no directory is known, returns one set with every
// node that sees no directory or has not reported.
std::vector<std::set<std::string>> NodesOutsideOfRoots(const RootSightings& roots);

// Returns, for example, "node-1 and node-2 share one directory at /ckpt, node-3 sees another one,
// node-4 none: ...". Lost nodes are omitted. Empty if all reports so far show the same directory.
std::string RootDifferences(const ClusterState& state, const RootSightings& roots);

// Returns advice for the case that nodes do not share the root.
std::string RootAdvice(const RootSightings& roots);

// Returns the warning for a job that may start although nodes do not share the root: a later
// attempt on another node would not find the job's checkpoints. Empty for other jobs.
std::string RootWarning(const ClusterState& state, const v1::JobSpec& spec,
                        const RootSightings& roots);

// Returns the check of one node for `trainyard doctor`. The check has no name if nothing is known
// about the node.
v1::NodeCheck RootCheck(const ClusterState& state, const std::string& node_id,
                        const RootSightings& roots);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_ROOT_SIGHTINGS_H_

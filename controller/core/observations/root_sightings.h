// Directories that nodes see at the path of the checkpoint root. Nodes that read the same nonce
// there share the directory; checkpoints of a gang on nodes that do not share it are lost.
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
  // The checkpoint root. Reports about another path are ignored, as from before a restart of the
  // controller with another root.
  std::string path;
  // Newest report of each node; absent while nothing is known, as of a worker of an older release.
  std::map<std::string, v1::CheckpointRoot> by_node;
  // Nodes by the nonce that they read; those that read none under "".
  std::map<std::string, std::set<std::string>> nodes_by_nonce;
  // Nodes whose first report is due, and the end of the wait for it.
  std::map<std::string, Timestamp> awaited;
  // Nonce that the controller's own machine reads; empty when it sees no such directory.
  std::string controllers_nonce;
};

// A worker reports a first look within this time, also when its file system does not answer.
inline constexpr int64_t kFirstRootReportMs = 15'000;

// Records what a worker reports in Hello (`attached`) or in a heartbeat.
void NoteRoot(const std::string& node_id, const v1::Hello& hello, Timestamp now,
              RootSightings& roots);
void NoteRoot(const std::string& node_id, const v1::Heartbeat& heartbeat, Timestamp now,
              RootSightings& roots);
void ForgetRoot(const std::string& node_id, RootSightings& roots);

// True when the job saves checkpoints below the root. Only an evaluation surely saves none.
bool SavesInRoot(const v1::JobSpec& spec, const RootSightings& roots);

// True when a gang of this job on so many nodes cannot use just any free nodes: some nodes do not
// share the root, or have not reported yet.
bool NeedsSharedRoot(const v1::JobSpec& spec, int nodes, const RootSightings& roots);

// For a gang that needs a shared root: sets of nodes that must stay out of it, one set for each
// directory that nodes share, the directory of most nodes first.
std::vector<std::set<std::string>> NodesOutsideOfRoots(const RootSightings& roots);

// "node-1 and node-2 share one directory at /ckpt, node-3 sees another one, node-4 none: ...",
// of nodes that are not lost; empty when they share one, as far as they have reported.
std::string RootDifferences(const ClusterState& state, const RootSightings& roots);

// Next step for nodes that do not share the root.
std::string RootAdvice(const RootSightings& roots);

// Warning for a job that may start although nodes do not share the root: a later attempt on another
// node does not find its checkpoints. Empty where that does not apply.
std::string RootWarning(const ClusterState& state, const v1::JobSpec& spec,
                        const RootSightings& roots);

// The check of one node for `trainyard doctor`; without a name while nothing is known of it.
v1::NodeCheck RootCheck(const ClusterState& state, const std::string& node_id,
                        const RootSightings& roots);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_ROOT_SIGHTINGS_H_

// Decides if a worker may send a stream: a worker speaks for the ranks of its own node only.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_STREAM_FENCE_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_STREAM_FENCE_H_

#include <string>

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

enum class StreamFence {
  // The rank was placed on this node. Also attempts whose ranks the state does not have: those
  // beyond kAttemptsKeptWithRanks, and those that may be of the time after the backup that was
  // restored. A node that was away for long may still deliver their output.
  kAccepted,
  // The job has left the state for the archive: FenceStreamOf tells, with the entry from there.
  kArchived,
  // A job number is durable before a worker receives it, so this job is not one of this cluster.
  kUnknownJob,
  // The job was submitted after the backup that was restored: the worker's copy may be all that is
  // left of it.
  kLostToRestore,
  // The job has no such attempt, or the rank belongs to another node.
  kForeign,
};

StreamFence FenceStream(const ClusterState& state, const std::string& node_id,
                        const v1::StreamId& stream);
// The same for the job of the stream. Never kArchived.
StreamFence FenceStreamOf(const JobEntry& entry, const ClusterState& state,
                          const std::string& node_id, const v1::StreamId& stream);

// Removes the reports of ranks that FenceStream would refuse.
void KeepOwnRanks(const ClusterState& state, const std::string& node_id, v1::AttemptReport& report);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_STREAM_FENCE_H_

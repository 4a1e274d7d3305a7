// Decides whether a worker may send a stream. A worker may send only streams of ranks on its own
// node.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_STREAM_FENCE_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_STREAM_FENCE_H_

#include <string>

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

enum class StreamFence {
  // The rank was placed on this node, or the state does not contain the attempt's ranks. In the
  // second case the attempt is older than the last kAttemptsKeptWithRanks attempts, or it is
  // missing from the log. Output of such an attempt may arrive after a long disconnection.
  kAccepted,
  // The job is archived. Call FenceStreamOf with its archived entry.
  kArchived,
  // The job does not belong to this cluster. Job ids of this cluster are durable before any worker
  // receives them, so the state would know the id.
  kUnknownJob,
  // The job may be missing from the log (IsLostToRestore). The worker may have the only copy of the
  // data.
  kLostToRestore,
  // The job has no such attempt, or the rank was placed on another node.
  kForeign,
};

StreamFence FenceStream(const ClusterState& state, const std::string& node_id,
                        const v1::StreamId& stream);
// Works like FenceStream, for the given entry of the stream's job. Never returns kArchived.
StreamFence FenceStreamOf(const JobEntry& entry, const ClusterState& state,
                          const std::string& node_id, const v1::StreamId& stream);

// Removes the reports of ranks whose stream is kForeign or kUnknownJob.
void KeepOwnRanks(const ClusterState& state, const std::string& node_id, v1::AttemptReport& report);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_STREAM_FENCE_H_

// Creates messages of the topics `jobs` and `nodes` from the state. Call on the loop thread.
#ifndef TRAINYARD_CONTROLLER_HTTP_FEED_MESSAGES_H_
#define TRAINYARD_CONTROLLER_HTTP_FEED_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "controller/core/schedule/cluster_view.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/stream.pb.h"

namespace trainyard::controller::http {

// The maximum numbers of ended, queued and active jobs in a snapshot. kWaitingInSnapshot also
// limits the number of paused jobs and of jobs that wait for other jobs, each separately.
inline constexpr int kEndedInSnapshot = 200;
inline constexpr int kWaitingInSnapshot = 200;
inline constexpr std::size_t kPlacedInSnapshot = 200;

// Adds nodes that the event removed, and nodes whose slots or state the event may have changed.
void AddNodesOf(const v1::Event& event, const ClusterState& state, std::set<std::string>& nodes);

// Returns the nodes in `only`, or all nodes if `only` is null. A node in `only` that is not in the
// state is reported as removed.
std::shared_ptr<v1::NodesChanged> NodesOf(const std::set<std::string>* only,
                                          const ClusterView& view);

// Returns the newest live jobs. When a stream resumes, the stream sends these jobs in addition to
// the jobs of the missed events, because events do not contain progress.
std::set<int64_t> NewestLiveJobs(const ClusterState& state);

// Returns the newest queued jobs that wait for other jobs, at most kWaitingInSnapshot.
std::set<int64_t> NewestDependentJobs(const ClusterState& state);

// Returns the jobs that a page receives first.
std::shared_ptr<v1::JobsChanged> JobsSnapshot(const ClusterView& view);

// Returns the jobs with the ids in `jobs`, newest first. If there are many ids, returns a snapshot
// instead, so that the message stays small.
std::shared_ptr<v1::JobsChanged> JobsOrSnapshot(const std::set<int64_t>& jobs,
                                                const ClusterView& view);

// If the event deleted a job, adds the job to the removed jobs.
void AddRemoved(const v1::Event& event, v1::JobsChanged& changed);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_FEED_MESSAGES_H_

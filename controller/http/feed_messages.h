// Messages of the topics `jobs` and `nodes`, made from the state. Loop thread.
#ifndef TRAINYARD_CONTROLLER_HTTP_FEED_MESSAGES_H_
#define TRAINYARD_CONTROLLER_HTTP_FEED_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "controller/api/cluster_loop.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/stream.pb.h"

namespace trainyard::controller::http {

// Maximum number of jobs in a snapshot: ended, queued and active ones.
inline constexpr int kEndedInSnapshot = 200;
inline constexpr int kWaitingInSnapshot = 200;
inline constexpr std::size_t kPlacedInSnapshot = 200;

// Adds the nodes that the event removed, or whose slots or state it may have changed.
void AddNodesOf(const v1::Event& event, const ClusterState& state, std::set<std::string>& nodes);

// All nodes, or `only` these. Nodes of `only` that are not in the state were removed.
std::shared_ptr<v1::NodesChanged> NodesOf(const std::set<std::string>* only,
                                          const ClusterView& view);

// Jobs sent to a stream that resumes, besides the jobs of its events: progress is not in the log.
std::set<int64_t> NewestLiveJobs(const ClusterState& state);

// The first jobs of a page.
std::shared_ptr<v1::JobsChanged> JobsSnapshot(const ClusterView& view);

// These jobs, newest first, or a snapshot if they are many: the size of the message is bounded.
std::shared_ptr<v1::JobsChanged> JobsOrSnapshot(const std::set<int64_t>& jobs,
                                                const ClusterView& view);

// Adds the job that the event deleted, if it deleted one.
void AddRemoved(const v1::Event& event, v1::JobsChanged& changed);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_FEED_MESSAGES_H_

// Messages of the topics `jobs` and `nodes`, created from the state. Loop thread.
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

// Maximum number of ended, queued and active jobs in a snapshot. The limit of queued jobs also
// applies to paused jobs, which are counted separately.
inline constexpr int kEndedInSnapshot = 200;
inline constexpr int kWaitingInSnapshot = 200;
inline constexpr std::size_t kPlacedInSnapshot = 200;

// Adds the nodes that the event removed, or whose slots or state it may have changed.
void AddNodesOf(const v1::Event& event, const ClusterState& state, std::set<std::string>& nodes);

// All nodes, or those in `only`. A node in `only` that is not in the state was removed.
std::shared_ptr<v1::NodesChanged> NodesOf(const std::set<std::string>* only,
                                          const ClusterView& view);

// Live jobs that a resuming stream receives in addition to the jobs of its events, because their
// progress is not in the log.
std::set<int64_t> NewestLiveJobs(const ClusterState& state);

// The jobs that a page receives first.
std::shared_ptr<v1::JobsChanged> JobsSnapshot(const ClusterView& view);

// The jobs in `jobs`, newest first, or a snapshot if there are many, which limits the message's
// size.
std::shared_ptr<v1::JobsChanged> JobsOrSnapshot(const std::set<int64_t>& jobs,
                                                const ClusterView& view);

// Adds the job deleted by the event, if any.
void AddRemoved(const v1::Event& event, v1::JobsChanged& changed);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_FEED_MESSAGES_H_

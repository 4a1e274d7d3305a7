// Nodes that can be reached but cannot start ranks: what makes a node unhealthy, how long it is
// kept out, and how it comes back by itself.
#ifndef TRAINYARD_CONTROLLER_CORE_HEALTH_NODE_HEALTH_H_
#define TRAINYARD_CONTROLLER_CORE_HEALTH_NODE_HEALTH_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// The time for which a node is kept out after a failed start; it doubles with each failed start
// that follows, and a start that succeeds ends it. So a node that fails every start at once gets
// one attempt in this time, and not the whole queue.
inline constexpr int64_t kFirstRetryMs = 5'000;
inline constexpr int64_t kLongestRetryMs = 600'000;

// True when the node may take any number of ranks, as far as its health goes.
bool IsHealthy(const v1::Node& node);

// NodeUnhealthy for an attempt that the node could not start. Nothing when the attempt was placed
// before the node's last failure: attempts that fail together are one failure.
std::optional<v1::Event> FailedStart(const NodeEntry& node, const v1::Attempt& attempt,
                                     const std::string& reason, Timestamp now);

// The event by which earlier failed starts count no more.
v1::Event WithoutFailedStarts(const v1::Node& node, Timestamp now);

// The event of a rank that has started on the node: NodeHealthy, or NodeUnhealthy with what its
// worker still reports. Nothing when that says nothing new about the node.
std::optional<v1::Event> SucceededStart(const NodeEntry& node, const v1::Attempt& attempt,
                                        Timestamp now);

// NodeUnhealthy and NodeHealthy due because of what workers report about their nodes.
std::vector<v1::Event> ReportedHealthDue(const ClusterState& state,
                                         const Observations& observations, Timestamp now);

// Unhealthy nodes that take no new rank now: they are in quarantine (quarantine.h), their worker
// reports trouble, the wait after a failed start runs, or the one attempt that tries the node again
// has not started yet.
std::set<std::string> ClosedNodes(const ClusterState& state, Timestamp now);

// "unhealthy: cannot write start.json: No space left on device; tried again in 12 s".
std::string HealthText(const v1::Node& node, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_NODE_HEALTH_H_

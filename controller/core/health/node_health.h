// Health of reachable nodes that cannot start ranks: what makes a node unhealthy, how long it gets
// no ranks, and how it recovers automatically.
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

// Backoff of a node after a failed start. It doubles with each further failed start and ends with a
// successful one. So a node that fails every start gets one attempt per backoff, not the whole
// queue.
inline constexpr int64_t kFirstRetryMs = 5'000;
inline constexpr int64_t kLongestRetryMs = 600'000;

// True if the node's health does not limit the number of ranks placed on it.
bool IsHealthy(const v1::Node& node);

// NodeUnhealthy for an attempt that the node could not start. nullopt if the attempt was placed
// before the node's last failure: attempts that fail together are one failure.
std::optional<v1::Event> FailedStart(const NodeEntry& node, const v1::Attempt& attempt,
                                     const std::string& reason, Timestamp now);

// Event that clears the node's failed starts.
v1::Event WithoutFailedStarts(const v1::Node& node, Timestamp now);

// Event for a rank that started on the node: NodeHealthy, or NodeUnhealthy if a reported trouble or
// a quarantine remains. nullopt if the start reveals nothing new about the node.
std::optional<v1::Event> SucceededStart(const NodeEntry& node, const v1::Attempt& attempt,
                                        Timestamp now);

// NodeUnhealthy and NodeHealthy events due to the workers' reports about their nodes.
std::vector<v1::Event> ReportedHealthDue(const ClusterState& state,
                                         const Observations& observations, Timestamp now);

// Unhealthy nodes that accept no new rank now. Such a node is quarantined (quarantine.h), its
// worker reports trouble, its backoff is not over, or the one attempt placed after the backoff has
// not started yet.
std::set<std::string> ClosedNodes(const ClusterState& state, Timestamp now);

// "unhealthy: cannot write start.json: No space left on device; retry in 12 s".
std::string HealthText(const v1::Node& node, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_NODE_HEALTH_H_

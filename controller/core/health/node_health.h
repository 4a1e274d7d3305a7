// Health of nodes that are reachable but cannot start ranks: why a node is unhealthy, how long no
// ranks are placed on it, and how it recovers automatically.
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

// The backoff of a node after its first failed start. Each further failed start doubles the
// backoff, and a successful start resets it. A node that fails every start therefore gets one
// attempt per backoff instead of the whole queue.
inline constexpr int64_t kFirstRetryMs = 5'000;
inline constexpr int64_t kLongestRetryMs = 600'000;

// Returns true if the node's health does not limit the number of ranks that may be placed on it.
bool IsHealthy(const v1::Node& node);

// Returns NodeUnhealthy for an attempt that the node could not start. Returns nullopt if the
// attempt was placed before the node's last failure, because attempts that fail together count as
// one failure.
std::optional<v1::Event> FailedStart(const NodeEntry& node, const v1::Attempt& attempt,
                                     const std::string& reason, Timestamp now);

// Returns the event that clears the node's failed starts.
v1::Event WithoutFailedStarts(const v1::Node& node, Timestamp now);

// Returns the event for a rank that started on the node: NodeHealthy, or NodeUnhealthy if a
// reported trouble or a quarantine remains. Returns nullopt if the start reveals nothing new about
// the node.
std::optional<v1::Event> SucceededStart(const NodeEntry& node, const v1::Attempt& attempt,
                                        Timestamp now);

// Returns the NodeUnhealthy and NodeHealthy events that result from the workers' reports about
// their nodes.
std::vector<v1::Event> ReportedHealthDue(const ClusterState& state,
                                         const Observations& observations, Timestamp now);

// Returns the unhealthy nodes that accept no new rank now. A node is closed while
// - it is quarantined (quarantine.h),
// - its worker reports trouble,
// - its backoff is not over, or
// - the attempt that was placed after the backoff has not started yet.
std::set<std::string> ClosedNodes(const ClusterState& state, Timestamp now);

// Describes the node's health, for example "unhealthy: cannot write start.json: No space left on
// device; retry in 12 s".
std::string HealthText(const v1::Node& node, Timestamp now);

// Describes the cordon or the drain of a cordoned node with its reason, for example "draining (jobs
// leave within 25 min): bad fan (user ada)".
std::string CordonText(const v1::Node& node, Timestamp now);

// Returns the worst word that applies to the node.
v1::NodeWord WordOf(const v1::Node& node);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_NODE_HEALTH_H_

// Failures that are blamed on nodes, and the resulting quarantine. In a node's health
// (node_health.h), the quarantine lasts longer than the effect of a failed start.
#ifndef TRAINYARD_CONTROLLER_CORE_HEALTH_QUARANTINE_H_
#define TRAINYARD_CONTROLLER_CORE_HEALTH_QUARANTINE_H_

#include <optional>
#include <string>
#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// At most 1/kQuarantinedPart of the nodes may be quarantined for failures, so that network trouble
// does not empty the cluster. One node may always be quarantined. A fatal device error always
// quarantines its node, regardless of the limit.
inline constexpr int kQuarantinedPart = 10;

// Returns the events for a verdict that blames a node: NodeBlamed, and NodeUnhealthy if the node
// reaches the limit of failures. Empty in three cases:
// - The verdict blames no node.
// - The attempt was placed before the node's newest failure of the kind. Attempts that fail
//   together count as one failure.
// - The node is lost while several other nodes send no heartbeat either.
std::vector<v1::Event> BlameFor(const v1::Verdict& verdict, const v1::Job& job,
                                const v1::Attempt& attempt, const ClusterState& state,
                                const CoreOptions& options, Timestamp now);

// Returns the events for device errors that workers report, and NodeReleased for quarantined nodes
// that passed their checks.
std::vector<v1::Event> QuarantineEventsDue(const ClusterState& state,
                                           const Observations& observations,
                                           const CoreOptions& options, Timestamp now);

// Returns the event that ends the quarantine and clears the evidence for a quarantine. Returns
// nullopt if the node has neither a quarantine nor such evidence.
std::optional<v1::Event> Release(const v1::Node& node, const std::string& reason, Timestamp now);

// Returns a score from 0 to 100. A node without evidence has 100. Each evidence record subtracts
// 25, and a fatal record 50. These amounts halve with each day of the record's age.
int ScoreOf(const v1::Node& node, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_QUARANTINE_H_

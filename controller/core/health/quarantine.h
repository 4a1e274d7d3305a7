// Failures blamed on nodes, and the resulting quarantine: the part of a node's health
// (node_health.h) that outlasts a failed start.
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

// At most 1/kQuarantinedPart of the nodes, but always one, may be quarantined for failures, so that
// network trouble does not empty the cluster. A fatal device error always quarantines its node.
inline constexpr int kQuarantinedPart = 10;

// Events for a verdict that blames a node: NodeBlamed, and NodeUnhealthy if the node reaches the
// limit of failures. Empty if the verdict blames no node, if the attempt was placed before the
// node's newest failure of the kind (attempts that fail together are one failure), and for a lost
// node while several others send no heartbeat.
std::vector<v1::Event> BlameFor(const v1::Verdict& verdict, const v1::Job& job,
                                const v1::Attempt& attempt, const ClusterState& state,
                                const CoreOptions& options, Timestamp now);

// Events for device errors reported by workers, and NodeReleased for quarantined nodes that passed
// their checks.
std::vector<v1::Event> QuarantineEventsDue(const ClusterState& state,
                                           const Observations& observations,
                                           const CoreOptions& options, Timestamp now);

// Event that ends the quarantine and clears the evidence that counts towards one; nullopt if there
// is neither.
std::optional<v1::Event> Release(const v1::Node& node, const std::string& reason, Timestamp now);

// Score from 0 to 100, where 100 is a node without evidence. Each evidence record subtracts 25, a
// fatal one 50; the amount halves with each day of its age.
int ScoreOf(const v1::Node& node, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_QUARANTINE_H_

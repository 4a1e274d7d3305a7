// Failures that nodes are to blame for, and the quarantine that follows: the part of a node's
// health (node_health.h) that lasts longer than a failed start.
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

// A quarantine takes in at most this part of the nodes (and always one), so that trouble of the
// network is not paid for by the whole cluster. A fatal error of a device is no such trouble.
inline constexpr int kQuarantinedPart = 10;

// The events of a verdict for which a node is to blame: NodeBlamed, and NodeUnhealthy where this is
// one failure too many. Nothing for a verdict that blames no node, for an attempt that was placed
// before the node's newest failure of the kind (attempts that fail together are one failure), and
// for a lost node while several others send no heartbeat.
std::vector<v1::Event> BlameFor(const v1::Verdict& verdict, const v1::Job& job,
                                const v1::Attempt& attempt, const ClusterState& state,
                                const CoreOptions& options, Timestamp now);

// The same for errors of devices that workers report, and NodeReleased for nodes in quarantine that
// have passed their checks.
std::vector<v1::Event> QuarantineEventsDue(const ClusterState& state,
                                           const Observations& observations,
                                           const CoreOptions& options, Timestamp now);

// The event that ends the quarantine, or drops the evidence that counts; nothing when there is
// neither.
std::optional<v1::Event> Release(const v1::Node& node, const std::string& reason, Timestamp now);

// 100 for a node without evidence; each piece takes away 25, a fatal one 50, and counts half as
// much for each day of its age. At least 0.
int ScoreOf(const v1::Node& node, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_QUARANTINE_H_

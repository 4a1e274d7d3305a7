// The state that a caller of the controller's loop receives, and the outcome of its request.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_CLUSTER_VIEW_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_CLUSTER_VIEW_H_

#include <cstdint>
#include <functional>
#include <set>
#include <span>

#include "absl/status/statusor.h"
#include "controller/core/observations/observations.h"
#include "controller/core/schedule/schedule.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// The state between two ticks. Valid only during the call of the function that receives it.
struct ClusterView {
  const ClusterState& state;
  const Observations& observations;
  const CoreOptions& options;
  // Result of the newest pass over the queue. The state may have changed since then.
  const Schedule& schedule;
  Timestamp now = 0;
  // Sequence number of the last durable event.
  uint64_t revision = 0;
};

// Changes made by one tick.
struct TickSummary {
  std::set<int64_t> changed_jobs;
  // All events of the tick. The last event's sequence number is the view's revision. A JobSubmitted
  // has no spec here; it is in the view.
  std::span<const v1::Event> events;
};

// The durable events caused by a request, as in TickSummary. Empty for a repeated request. Valid
// only during the call of the function that receives them.
using RequestOutcome = absl::StatusOr<std::span<const v1::Event>>;
using RequestDone = std::function<void(const RequestOutcome& outcome, const ClusterView& view)>;

// Called after each committed tick until it returns false.
using TickListener = std::function<bool(const ClusterView& view, const TickSummary& summary)>;

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_CLUSTER_VIEW_H_

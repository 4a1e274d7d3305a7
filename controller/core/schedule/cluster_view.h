// The view of the state that the controller's loop passes to callers, and the outcome of a request.
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

// The state between two ticks. Valid only during the call of the function to which it is passed.
struct ClusterView {
  const ClusterState& state;
  const Observations& observations;
  const CoreOptions& options;
  // The result of the newest pass over the queue. The state may have changed since that pass.
  const Schedule& schedule;
  Timestamp now = 0;
  // The sequence number of the last durable event.
  uint64_t revision = 0;
};

// Changes made by one tick.
struct TickSummary {
  std::set<int64_t> changed_jobs;
  // All events of the tick. The sequence number of the last event is the view's revision.
  // JobSubmitted events lack their spec here; the view contains it.
  std::span<const v1::Event> events;
  // True once the log is known to be complete (IsLogConfirmed in core/decide/lost_history.h).
  bool log_confirmed = false;
};

// The durable events that a request caused (see TickSummary). Empty for a repeated request. Valid
// only during the call that receives them.
using RequestOutcome = absl::StatusOr<std::span<const v1::Event>>;
using RequestDone = std::function<void(const RequestOutcome& outcome, const ClusterView& view)>;

// Called after each committed tick, until it returns false.
using TickListener = std::function<bool(const ClusterView& view, const TickSummary& summary)>;

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_CLUSTER_VIEW_H_

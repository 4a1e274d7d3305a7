// The services' interface to the controller: one thread that owns the state. Services decode a
// request, pass it to this interface, and encode the answer; they contain no cluster rules.
#ifndef TRAINYARD_CONTROLLER_API_CLUSTER_LOOP_H_
#define TRAINYARD_CONTROLLER_API_CLUSTER_LOOP_H_

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/decide/decide.h"
#include "controller/core/observations/observations.h"
#include "controller/core/requests/requests.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// The state between two ticks. Valid only during the call of the function that receives it.
struct ClusterView {
  const ClusterState& state;
  const Observations& observations;
  const CoreOptions& options;
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

// Thread-safe unless stated otherwise.
class ClusterLoop {
 public:
  // The durable events caused by a request, as in TickSummary. Empty for a repeated request. Valid
  // only during the call of the function that receives them.
  using Outcome = absl::StatusOr<std::span<const v1::Event>>;
  using Done = std::function<void(const Outcome& outcome, const ClusterView& view)>;
  using Listener = std::function<bool(const ClusterView& view, const TickSummary& summary)>;

  virtual ~ClusterLoop() = default;

  // Calls `work` on the loop thread. Calls keep their order.
  virtual void Read(std::function<void(const ClusterView& view)> work) = 0;

  // Decides the request in the next tick, and calls `done` on the loop thread once its events are
  // committed. RESOURCE_EXHAUSTED: too many user requests are waiting.
  virtual void Submit(Request request, Done done) = 0;

  // Calls `listener` on the loop thread after each committed tick, at least every 250 ms, until it
  // returns false. Loop thread only.
  virtual void Listen(Listener listener) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_CLUSTER_LOOP_H_

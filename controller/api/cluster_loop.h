// The services' interface to the controller: one thread that owns the state. Services decode a
// request, hand it over here, and encode the answer; no rule of the cluster lives in a service.
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

// The state between two ticks. Valid only while the function that it was given to runs.
struct ClusterView {
  const ClusterState& state;
  const Observations& observations;
  const CoreOptions& options;
  Timestamp now = 0;
  // Sequence number of the last durable event.
  uint64_t revision = 0;
};

// Changes of one tick.
struct TickSummary {
  std::set<int64_t> changed_jobs;
  // All events of the tick; the last one has the view's revision as its sequence number. The spec
  // of a JobSubmitted is left out: the view has it.
  std::span<const v1::Event> events;
};

// Thread-safe unless said otherwise.
class ClusterLoop {
 public:
  // The events that a request caused, as TickSummary has them; all of them are durable. Empty for a
  // repeated request. Valid only while the function that it was given to runs.
  using Outcome = absl::StatusOr<std::span<const v1::Event>>;
  using Done = std::function<void(const Outcome& outcome, const ClusterView& view)>;
  using Listener = std::function<bool(const ClusterView& view, const TickSummary& summary)>;

  virtual ~ClusterLoop() = default;

  // Calls `work` on the loop thread; calls keep their order.
  virtual void Read(std::function<void(const ClusterView& view)> work) = 0;

  // Decides on the request in the next tick and calls `done` on the loop thread once its events are
  // committed. RESOURCE_EXHAUSTED for a user's request while too many wait.
  virtual void Submit(Request request, Done done) = 0;

  // Calls `listener` on the loop thread after each committed tick until it returns false; ticks
  // come at least every 250 ms. Loop thread only.
  virtual void Listen(Listener listener) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_CLUSTER_LOOP_H_

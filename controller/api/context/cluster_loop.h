// The interface through which services use the controller. One thread, the loop thread, owns the
// state. Services only decode a request, pass it to this interface, and encode the answer.
#ifndef TRAINYARD_CONTROLLER_API_CONTEXT_CLUSTER_LOOP_H_
#define TRAINYARD_CONTROLLER_API_CONTEXT_CLUSTER_LOOP_H_

#include <functional>

#include "controller/core/requests/requests.h"
#include "controller/core/schedule/cluster_view.h"

namespace trainyard::controller {

// Thread-safe unless stated otherwise.
class ClusterLoop {
 public:
  virtual ~ClusterLoop() = default;

  // Calls `work` on the loop thread. The work of several Read calls runs in the order of the calls.
  virtual void Read(std::function<void(const ClusterView& view)> work) = 0;

  // Decides the request in the next tick. Calls `done` on the loop thread after the resulting
  // events are committed. RESOURCE_EXHAUSTED: too many user requests are waiting.
  virtual void Submit(Request request, RequestDone done) = 0;

  // Calls `listener` on the loop thread after each committed tick, at least every 250 ms, until
  // `listener` returns false. Must be called on the loop thread.
  virtual void Listen(TickListener listener) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_CONTEXT_CLUSTER_LOOP_H_

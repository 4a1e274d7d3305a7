// The two sides of a worker's stream: operations of the controller, and messages received from it.
#ifndef TRAINYARD_CONTROLLER_RPC_WORKER_LINK_H_
#define TRAINYARD_CONTROLLER_RPC_WORKER_LINK_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// An open stream of a worker. Thread-safe; calls on a closed one do nothing.
class WorkerLink {
 public:
  virtual ~WorkerLink() = default;

  // Queues a message. A slow consumer, for which too many messages wait, is disconnected: all
  // messages are derived from state and are due again.
  virtual void Send(v1::ControllerMessage message) = 0;

  // Queued messages: those that wait to be read by the worker, and those read so far.
  struct Outgoing {
    std::size_t waiting = 0;
    uint64_t taken = 0;
  };
  virtual Outgoing outgoing() const = 0;

  // Ends the stream; the worker gets the status once it has taken the message that is under way.
  virtual void Close(const absl::Status& status) = 0;

  // Ends the stream of a worker that may never read again. Not on gRPC's threads.
  virtual void CutOff(const absl::Status& status) = 0;

  // True while the controller does not read from the stream because too many read messages wait for
  // the loop or the storage. Missing heartbeats of the worker are then the controller's own doing.
  virtual bool ReadingPaused() const = 0;
};

// Limits how much is read from a worker: reading stops while too many permits are held.
using ReadPermit = std::shared_ptr<void>;

// The permits of one message.
struct ReadPermits {
  // Held while the message waits for the loop.
  ReadPermit waiting;
  // Held until the message is handled and its bytes are stored.
  ReadPermit handling;
};

// Receives the messages of all streams. Called on gRPC threads; calls for one stream are in order
// and never concurrent.
class WorkerListener {
 public:
  virtual ~WorkerListener() = default;

  // The first message of a link is a Hello that CheckHello accepts, and no later one is a Hello.
  virtual void OnMessage(const std::shared_ptr<WorkerLink>& link, v1::WorkerMessage message,
                         ReadPermits permits) = 0;

  // Last call for this link; it may come without any message before.
  virtual void OnClosed(const std::shared_ptr<WorkerLink>& link) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_WORKER_LINK_H_

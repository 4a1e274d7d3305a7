// The two sides of a worker's stream: operations of the controller, and messages from the worker.
#ifndef TRAINYARD_CONTROLLER_RPC_WORKER_LINK_H_
#define TRAINYARD_CONTROLLER_RPC_WORKER_LINK_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// An open stream of a worker. Thread-safe; calls on a closed stream do nothing.
class WorkerLink {
 public:
  virtual ~WorkerLink() = default;

  // Queues a message. A slow consumer with too many queued messages is disconnected. No message is
  // lost: messages are derived from the state and become due again.
  virtual void Send(v1::ControllerMessage message) = 0;

  // Messages still queued for the worker, and the number it has read so far.
  struct Outgoing {
    std::size_t waiting = 0;
    uint64_t taken = 0;
  };
  virtual Outgoing outgoing() const = 0;

  // Ends the stream. The worker receives the status after the message being sent.
  virtual void Close(const absl::Status& status) = 0;

  // Ends the stream of a worker that may never read again. Do not call on gRPC's threads.
  virtual void CutOff(const absl::Status& status) = 0;

  // True while the controller does not read from the stream, because too many messages wait for the
  // loop or the storage. The controller then causes missing heartbeats itself.
  virtual bool ReadingPaused() const = 0;
};

// Limits how much is read from a worker: reading stops while too many permits exist.
using ReadPermit = std::shared_ptr<void>;

// The permits of one message.
struct ReadPermits {
  // Kept while the message waits for the loop.
  ReadPermit waiting;
  // Kept until the message is handled and its bytes are stored.
  ReadPermit handling;
};

// Receives the messages of all streams. Called on gRPC threads; calls for one stream are ordered
// and never concurrent.
class WorkerListener {
 public:
  virtual ~WorkerListener() = default;

  // The first message of a link, and only the first, is a Hello. CheckHello has accepted it.
  virtual void OnMessage(const std::shared_ptr<WorkerLink>& link, v1::WorkerMessage message,
                         ReadPermits permits) = 0;

  // The last call for this link. May be the only call.
  virtual void OnClosed(const std::shared_ptr<WorkerLink>& link) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_WORKER_LINK_H_

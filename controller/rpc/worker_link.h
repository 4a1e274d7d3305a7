// The interfaces between a worker's stream and the controller. The controller operates the stream
// through WorkerLink, and receives the worker's messages through WorkerListener.
#ifndef TRAINYARD_CONTROLLER_RPC_WORKER_LINK_H_
#define TRAINYARD_CONTROLLER_RPC_WORKER_LINK_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// An open stream of a worker. Thread-safe. Calls on a closed stream have no effect.
class WorkerLink {
 public:
  virtual ~WorkerLink() = default;

  // Queues a message. If too many messages are queued, the worker is disconnected as a slow
  // consumer. After the worker has reconnected, the controller derives the lost messages from the
  // state and sends them again.
  virtual void Send(v1::ControllerMessage message) = 0;

  // The number of messages queued for the worker, and the number of messages that it has read so
  // far.
  struct Outgoing {
    std::size_t waiting = 0;
    uint64_t taken = 0;
  };
  virtual Outgoing outgoing() const = 0;

  // Finishes the message being sent, and then ends the stream with this status.
  virtual void Close(const absl::Status& status) = 0;

  // Ends the stream immediately, because the worker may no longer read. Do not call on gRPC's
  // threads.
  virtual void CutOff(const absl::Status& status) = 0;

  // Returns true while the controller does not read from the stream, because too many messages wait
  // for the loop or the storage. Heartbeats that are missing during that time are not the worker's
  // fault.
  virtual bool ReadingPaused() const = 0;
};

// Represents one message that was read. While too many permits of a worker exist, the controller
// reads no further messages from this worker.
using ReadPermit = std::shared_ptr<void>;

struct ReadPermits {
  // Keep while the message waits for the loop.
  ReadPermit waiting;
  // Keep until the message is handled and its bytes are stored.
  ReadPermit handling;
};

// Receives the messages of all streams. Called on gRPC threads. Calls for one stream are ordered
// and never concurrent.
class WorkerListener {
 public:
  virtual ~WorkerListener() = default;

  // Called for each message. The first message of a link is a Hello that CheckHello has accepted.
  // Later messages are never a Hello.
  virtual void OnMessage(const std::shared_ptr<WorkerLink>& link, v1::WorkerMessage message,
                         ReadPermits permits) = 0;

  // Called last for each link. A link that ends without a message gets only this call.
  virtual void OnClosed(const std::shared_ptr<WorkerLink>& link) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_WORKER_LINK_H_

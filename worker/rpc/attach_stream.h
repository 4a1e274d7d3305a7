// The stream to the controller that leads. AttachStream dials, checks that the controller knows the
// token, and sends Hello. After the stream ends, AttachStream dials the next controller of the
// list, without a limit on tries.
#ifndef TRAINYARD_WORKER_RPC_ATTACH_STREAM_H_
#define TRAINYARD_WORKER_RPC_ATTACH_STREAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/rpc/attach_options.h"

namespace boost::asio {
class io_context;
}

namespace trainyard::worker {

// The functions of the worker that the stream calls, all on the loop's thread.
class AttachHandler {
 public:
  virtual ~AttachHandler() = default;
  // Returns a Hello with a signature over `challenge` and `nonce` (proto/proof/proof.h, HelloText).
  virtual v1::Hello MakeHello(const std::string& challenge, const std::string& nonce) = 0;
  // Called for each message of the controller, before OnWelcome and OnMessage. After an error, the
  // stream ends and the message is dropped.
  virtual absl::Status Admit(const v1::ControllerMessage& message) = 0;
  virtual void OnWelcome(const v1::Welcome& welcome) = 0;
  virtual void OnMessage(const v1::ControllerMessage& message) = 0;
  // Returns the next message to send. Called after Welcome, after each completed write, and on
  // Wake. At most one message is queued, so a slow controller slows the sender.
  virtual std::optional<v1::WorkerMessage> NextMessage() = 0;
  // Called when the stream to `controller` has ended or could not be opened. The next dial follows
  // after the backoff.
  virtual void OnClosed(const std::string& controller, const absl::Status& status) = 0;
};

// Call the functions on the loop's thread unless stated otherwise. `loop` and `handler` must
// outlive this object.
class AttachStream {
 public:
  AttachStream(boost::asio::io_context& loop, AttachHandler& handler, AttachOptions options);
  // Ends the stream and waits until gRPC has released the call. Does not call the handler.
  ~AttachStream();

  void Start();
  // The controller of the stream, or of the present dial.
  const std::string& controller() const;
  // Makes the stream ask the handler for the next message.
  void Wake();
  // Writes a message even if the loop is blocked. Returns false and writes nothing if there was no
  // Welcome yet, or if the previous message is still being written. Thread-safe.
  bool WriteNow(v1::WorkerMessage message);

 private:
  class Call;
  struct Connection;
  std::shared_ptr<Connection> connection_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_RPC_ATTACH_STREAM_H_

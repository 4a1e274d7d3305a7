// Connects the stream of a client with the stream of the worker that runs the client's command.
#ifndef TRAINYARD_CONTROLLER_RPC_EXEC_RELAY_H_
#define TRAINYARD_CONTROLLER_RPC_EXEC_RELAY_H_

#include <chrono>
#include <functional>
#include <mutex>

#include "absl/status/status.h"
#include "grpcpp/grpcpp.h"
#include "trainyard/v1/exec_service.pb.h"

namespace trainyard::controller {

struct ExecLimits {
  // The time in which the worker must open its stream.
  std::chrono::milliseconds open{10'000};
  // A session without input and output ends after this time. The same limit as for `kubectl exec`.
  std::chrono::milliseconds idle = std::chrono::hours(4);
};

// A message is read from one stream only after the preceding message was written to the other
// stream, so the relay has at most one message per direction. Thread-safe. Each stream's reactor
// must pass its events to this object, and must own a reference until OnDone.
class ExecRelay {
 public:
  using ClientStream = grpc::ServerBidiReactor<v1::ExecInput, v1::ExecOutput>;
  using WorkerStream = grpc::ServerBidiReactor<v1::ExecOutput, v1::ExecInput>;

  ExecRelay(ClientStream* client, const ExecLimits& limits) : limits_(limits), client_(client) {}

  // Reads the first message of the client.
  void ReadStart();
  const v1::ExecInput& first_input() const { return input_; }
  // Call when OpenExec was sent to the worker of the node with this name. `started` is sent to the
  // client as soon as the worker's stream has joined.
  void AwaitWorker(v1::ExecStarted started);
  // Returns false if the session has ended. From then on, the caller must not use `worker`.
  bool Join(WorkerStream* worker);
  // Sets a function that is called once at the end of the session. It must not call this object.
  void OnEnd(std::function<void()> on_end);

  // Ends both streams. The worker then ends the command.
  void End(const absl::Status& status);
  // Ends the session if a limit is exceeded. Returns false if the session has ended.
  bool CheckLimits();

  // Events of the client's stream after its first message.
  void ClientRead(bool ok);
  void ClientWritten(bool ok);
  // Events of the worker's stream after Join.
  void WorkerRead(bool ok);
  void WorkerWritten(bool ok);

 private:
  using Steady = std::chrono::steady_clock;

  // These functions require mutex_.
  void EndLocked(const absl::Status& status);
  void Ended();
  void NoteActivity() { active_at_ = Steady::now(); }

  const ExecLimits limits_;
  std::mutex mutex_;
  // mutex_ guards all members below. A stream is null after its end. While a stream reads or writes
  // a message, only gRPC uses the message.
  ClientStream* client_;
  WorkerStream* worker_ = nullptr;
  v1::ExecInput input_;
  v1::ExecOutput output_;
  v1::ExecStarted started_;
  // The client has sent its last message.
  bool input_ended_ = false;
  // When the worker was asked to open its stream; unset before.
  Steady::time_point awaited_since_;
  // Time of the newest input or output; unset before the worker's stream has joined.
  Steady::time_point active_at_;
  std::function<void()> on_end_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_EXEC_RELAY_H_

// The worker's side of the stream: creates Hello and heartbeats, processes the controller's
// messages, and selects the next message to send. Uses no thread, clock or disk.
#ifndef TRAINYARD_WORKER_CORE_WORKER_KERNEL_H_
#define TRAINYARD_WORKER_CORE_WORKER_KERNEL_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "proto/support/clock.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/core/attempt_kernel.h"
#include "worker/core/stillness.h"
#include "worker/core/uplink.h"

namespace trainyard::worker {

class WorkerKernel {
 public:
  // Both arguments must outlive this object.
  WorkerKernel(AttemptKernel& attempts, Uplink& uplink) : attempts_(attempts), uplink_(uplink) {}

  // Returns `greeting` after adding the node's condition and one report per attempt.
  v1::Hello MakeHello(v1::Hello greeting);

  // Returns an error if facts could not be written. The stream can still be used.
  absl::Status OnWelcome(const v1::Welcome& welcome, Timestamp steady_ms);
  // Returns the same errors as OnWelcome, and INVALID_ARGUMENT for a message that a worker cannot
  // process.
  absl::Status OnMessage(const v1::ControllerMessage& message, const WorkerTime& now);
  void OnClosed() { uplink_.OnClosed(); }

  // Returns the next message to send after Welcome; nullopt if there is none now.
  std::optional<v1::WorkerMessage> NextMessage(Timestamp steady_ms);

  // Makes the next heartbeat due now. Call after a change that the controller should learn
  // soon.
  void ReportNow(Timestamp steady_ms) { heartbeat_due_ms_ = steady_ms; }

  // Sets the node's condition, for Hello and heartbeats. Makes a heartbeat due if trouble begins or
  // ends.
  void SetCondition(v1::NodeCondition condition, Timestamp steady_ms);

  // Call when the worker is about to exit. No more attempts are started, and a heartbeat that
  // reports the exit becomes due.
  void Leave(Timestamp steady_ms);
  // True once a heartbeat was written to the stream after Leave.
  bool HasSentFarewell() const { return farewell_ == Farewell::kWritten; }

 private:
  AttemptKernel& attempts_;
  Uplink& uplink_;
  Timestamp heartbeat_interval_ms_ = 1000;
  Timestamp heartbeat_due_ms_ = 0;
  v1::NodeCondition condition_;
  Stillness stillness_;
  enum class Farewell { kNone, kDue, kTaken, kWritten };
  Farewell farewell_ = Farewell::kNone;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_WORKER_KERNEL_H_

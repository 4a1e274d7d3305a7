// The worker's side of the stream: Hello and heartbeats, the controller's messages, and the next
// message to send. No thread, clock or disk.
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
  // Both outlive this.
  WorkerKernel(AttemptKernel& attempts, Uplink& uplink) : attempts_(attempts), uplink_(uplink) {}

  // Adds the node's condition and a report of each attempt to `greeting`.
  v1::Hello MakeHello(v1::Hello greeting);

  // An error means that facts could not be written; the stream remains usable.
  absl::Status OnWelcome(const v1::Welcome& welcome, Timestamp steady_ms);
  // Errors as in OnWelcome, and INVALID_ARGUMENT for a message that has no meaning here.
  absl::Status OnMessage(const v1::ControllerMessage& message, const WorkerTime& now);
  void OnClosed() { uplink_.OnClosed(); }

  // The next message after Welcome; nullopt if there is none now.
  std::optional<v1::WorkerMessage> NextMessage(Timestamp steady_ms);

  // Makes the next heartbeat due now, because it reports a change the controller should learn
  // early.
  void ReportNow(Timestamp steady_ms) { heartbeat_due_ms_ = steady_ms; }

  // Sets the node's condition, for Hello and heartbeats. Makes a heartbeat due when a trouble
  // begins or ends.
  void SetCondition(v1::NodeCondition condition, Timestamp steady_ms);

  // The worker is about to exit: starts no more attempts, and makes a heartbeat due that reports
  // it.
  void Leave(Timestamp steady_ms);
  // True once a heartbeat after Leave has been written to the stream.
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

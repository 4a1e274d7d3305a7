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

  // `greeting` with a report of each attempt.
  v1::Hello MakeHello(v1::Hello greeting);

  // Errors say that facts could not be written; the stream can still be used.
  absl::Status OnWelcome(const v1::Welcome& welcome, Timestamp steady_ms);
  // As OnWelcome. INVALID_ARGUMENT for a message that means nothing here.
  absl::Status OnMessage(const v1::ControllerMessage& message, const WorkerTime& now);
  void OnClosed() { uplink_.OnClosed(); }

  // The next message after Welcome; nullopt when there is none now.
  std::optional<v1::WorkerMessage> NextMessage(Timestamp steady_ms);

  // The next heartbeat reports a change: it is sent now, so that the controller need not wait.
  void ReportNow(Timestamp steady_ms) { heartbeat_due_ms_ = steady_ms; }

  // The condition of the node, for Hello and heartbeats. A trouble that begins or ends is reported
  // at once.
  void SetCondition(v1::NodeCondition condition, Timestamp steady_ms);

  // The worker is about to exit: no attempt is started any more, and a heartbeat says so now.
  void Leave(Timestamp steady_ms);
  // True once a heartbeat after Leave has been written to the stream.
  bool HasSaidFarewell() const { return farewell_ == Farewell::kWritten; }

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

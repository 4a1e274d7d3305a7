#include "worker/core/worker_kernel.h"

#include <algorithm>
#include <utility>

namespace trainyard::worker {

v1::Hello WorkerKernel::MakeHello(v1::Hello greeting) {
  for (v1::AttemptReport& report : attempts_.Reports()) {
    *greeting.add_attempts() = std::move(report);
  }
  return greeting;
}

absl::Status WorkerKernel::OnWelcome(const v1::Welcome& welcome, Timestamp steady_ms) {
  const auto& interval = welcome.heartbeat_interval();
  const int64_t interval_ms = interval.seconds() * 1000 + interval.nanos() / 1'000'000;
  // The limits keep a wrong setting from flooding the controller or from making the node seem lost.
  heartbeat_interval_ms_ = std::clamp<int64_t>(interval_ms, 100, 60'000);
  heartbeat_due_ms_ = steady_ms + heartbeat_interval_ms_;
  absl::Status status = uplink_.OnWelcome(welcome);
  status.Update(attempts_.FactsAcknowledged());
  return status;
}

absl::Status WorkerKernel::OnMessage(const v1::ControllerMessage& message, const WorkerTime& now) {
  switch (message.kind_case()) {
    case v1::ControllerMessage::kStartAttempt:
      if (!refuses_starts_) attempts_.Start(message.start_attempt(), now);
      return absl::OkStatus();
    case v1::ControllerMessage::kStopAttempt:
      attempts_.Stop(message.stop_attempt(), now);
      return absl::OkStatus();
    case v1::ControllerMessage::kForgetAttempt:
      attempts_.Forget(message.forget_attempt(), now);
      return absl::OkStatus();
    case v1::ControllerMessage::kFactsAcknowledged:
      uplink_.OnFactsAcknowledged(message.facts_acknowledged().fact_sequence());
      return attempts_.FactsAcknowledged();
    case v1::ControllerMessage::kStreamAcknowledged:
      uplink_.OnStreamAcknowledged(message.stream_acknowledged());
      return absl::OkStatus();
    case v1::ControllerMessage::kWelcome:
    case v1::ControllerMessage::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      "the controller sent a message that means nothing here; ignored");
}

std::optional<v1::WorkerMessage> WorkerKernel::NextMessage(Timestamp steady_ms) {
  if (steady_ms < heartbeat_due_ms_) return uplink_.Next();
  heartbeat_due_ms_ = steady_ms + heartbeat_interval_ms_;
  v1::WorkerMessage message;
  v1::Heartbeat& heartbeat = *message.mutable_heartbeat();
  for (v1::AttemptReport& report : attempts_.Reports()) {
    *heartbeat.add_attempts() = std::move(report);
  }
  return message;
}

}  // namespace trainyard::worker

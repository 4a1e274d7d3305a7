#include "worker/core/worker_kernel.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace trainyard::worker {
namespace {

// The worker was paused if it has not sent heartbeats for this many intervals.
constexpr int64_t kMissedHeartbeats = 3;

}  // namespace

v1::Hello WorkerKernel::MakeHello(v1::Hello greeting) {
  for (v1::AttemptReport& report : attempts_.Reports()) {
    *greeting.add_attempts() = std::move(report);
  }
  *greeting.mutable_condition() = condition_;
  return greeting;
}

void WorkerKernel::SetCondition(v1::NodeCondition condition, Timestamp steady_ms) {
  if (condition.trouble().empty() != condition_.trouble().empty()) heartbeat_due_ms_ = steady_ms;
  condition.set_leaving(condition_.leaving());
  condition_ = std::move(condition);
}

void WorkerKernel::Leave(Timestamp steady_ms) {
  condition_.set_leaving(true);
  farewell_ = Farewell::kDue;
  heartbeat_due_ms_ = steady_ms;
}

absl::Status WorkerKernel::OnWelcome(const v1::Welcome& welcome, Timestamp steady_ms) {
  const auto& interval = welcome.heartbeat_interval();
  const int64_t interval_ms = interval.seconds() * 1000 + interval.nanos() / 1'000'000;
  // Without the limits, a wrong setting could flood the controller with heartbeats or make the node
  // seem lost.
  heartbeat_interval_ms_ = std::clamp<int64_t>(interval_ms, 100, 60'000);
  heartbeat_due_ms_ = steady_ms + heartbeat_interval_ms_;
  absl::Status status = uplink_.OnWelcome(welcome);
  status.Update(attempts_.FactsAcknowledged());
  return status;
}

absl::Status WorkerKernel::OnMessage(const v1::ControllerMessage& message, const WorkerTime& now) {
  switch (message.kind_case()) {
    case v1::ControllerMessage::kStartAttempt:
      if (!condition_.leaving()) attempts_.Start(message.start_attempt(), now);
      return absl::OkStatus();
    case v1::ControllerMessage::kStopAttempt:
      attempts_.Stop(message.stop_attempt(), now);
      return absl::OkStatus();
    case v1::ControllerMessage::kHealAttempt:
      attempts_.Heal(message.heal_attempt());
      return absl::OkStatus();
    case v1::ControllerMessage::kWarnAttempt:
      attempts_.WarnRanks(message.warn_attempt());
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
    // The worker handles sessions itself, because they belong to no attempt's state.
    case v1::ControllerMessage::kOpenExec:
    case v1::ControllerMessage::kWelcome:
    case v1::ControllerMessage::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      "the controller sent an unexpected message, which the worker ignores");
}

std::optional<v1::WorkerMessage> WorkerKernel::NextMessage(Timestamp steady_ms) {
  if (farewell_ == Farewell::kTaken) farewell_ = Farewell::kWritten;
  if (steady_ms < heartbeat_due_ms_) return uplink_.Next();
  if (farewell_ == Farewell::kDue) farewell_ = Farewell::kTaken;
  heartbeat_due_ms_ = steady_ms + heartbeat_interval_ms_;
  v1::WorkerMessage message;
  v1::Heartbeat& heartbeat = *message.mutable_heartbeat();
  std::vector<v1::AttemptReport> reports = attempts_.Reports();
  stillness_.Note(steady_ms, kMissedHeartbeats * heartbeat_interval_ms_, reports);
  for (v1::AttemptReport& report : reports) *heartbeat.add_attempts() = std::move(report);
  *heartbeat.mutable_condition() = condition_;
  return message;
}

}  // namespace trainyard::worker

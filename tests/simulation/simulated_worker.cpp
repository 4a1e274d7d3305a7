#include "tests/simulation/simulated_worker.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace trainyard::simulation {
namespace {

constexpr int64_t kHeartbeatMs = 1000;
constexpr int64_t kResendMs = 1000;
// The stream counts as broken when no message of the controller was received for this long.
constexpr int64_t kStreamTimeoutMs = 5000;

AttemptKey ToKey(const worker::AttemptKey& key) { return {key.job_id, key.number}; }

}  // namespace

SimulatedWorker::SimulatedWorker(std::string node_id, int slots, TrainingWorld& world,
                                 Network& network, Random& random)
    : node_id_(std::move(node_id)),
      slots_(slots),
      world_(world),
      network_(network),
      random_(random) {}

void SimulatedWorker::Destroy() {
  destroyed_ = true;
  attempts_.reset();
  world_.CrashNode(node_id_);
}

void SimulatedWorker::Start(Timestamp now) {
  if (destroyed_) return;
  crash_between_actions_ = false;
  ++incarnation_;
  attached_ = false;
  hello_sent_ms_ = 0;
  facts_in_flight_ = 0;
  attempts_.emplace();
  std::vector<v1::StartAttempt> commands;
  for (const auto& [key, command] : disk_.commands) commands.push_back(command);
  attempts_->Restore(disk_.seen_attempts, commands, disk_.facts);
  ObserveRanks(now);
}

void SimulatedWorker::Execute(const worker::Actions& actions, Timestamp now) {
  for (const worker::Action& action : actions) {
    if (!IsUp()) return;
    Execute(action, now);
    if (crash_between_actions_ && random_.Chance(0.5)) {
      crash_between_actions_ = false;
      Crash();
    }
  }
}

void SimulatedWorker::Execute(const worker::Action& action, Timestamp now) {
  if (const auto* create = std::get_if<worker::CreateAttempt>(&action)) {
    disk_.commands[create->attempt] = *attempts_->CommandOf(create->attempt);
  } else if (const auto* remember = std::get_if<worker::RememberAttempt>(&action)) {
    disk_.seen_attempts[remember->job_id] = remember->attempt;
  } else if (const auto* spawn = std::get_if<worker::SpawnRank>(&action)) {
    SpawnRank(spawn->rank, now);
  } else if (const auto* signal = std::get_if<worker::SendSignal>(&action)) {
    world_.Signal(node_id_, ToKey(signal->rank.attempt), signal->rank.rank, signal->kill, now);
  } else if (const auto* record = std::get_if<worker::RecordFact>(&action)) {
    v1::Fact fact = record->fact;
    fact.set_sequence(disk_.facts.size() + 1);
    disk_.facts.push_back(std::move(fact));
  }
}

void SimulatedWorker::SpawnRank(const worker::RankKey& rank, Timestamp now) {
  world_.Spawn(node_id_, *attempts_->CommandOf(rank.attempt), rank.rank, now);
  // A daemon that crashes here has spawned a rank without recording it.
  if (crash_between_actions_) return Crash();
  Execute(attempts_->RankSpawned(rank, 1, now), now);
}

void SimulatedWorker::ObserveRanks(Timestamp now) {
  for (const worker::RankKey& rank : attempts_->RanksToObserve()) {
    if (!IsUp()) return;
    ObserveRank(rank, now);
  }
}

void SimulatedWorker::ObserveRank(const worker::RankKey& rank, Timestamp now) {
  const Process* process = world_.Find(node_id_, ToKey(rank.attempt), rank.rank);
  if (process == nullptr) return Execute(attempts_->RankNeverSpawned(rank), now);
  if (!process->exited.has_value()) return Execute(attempts_->RankSpawned(rank, 1, now), now);
  Execute(attempts_->RankEnded(*process->exited), now);
  if (IsUp()) Execute(attempts_->RankGone(rank), now);
}

void SimulatedWorker::Receive(const Envelope& envelope, Timestamp now) {
  if (!IsUp() || destroyed_) return;
  received_ms_ = now;
  const auto& message = std::get<v1::ControllerMessage>(envelope.message);
  if (message.has_welcome()) {
    if (envelope.connection != connection_) return;
    attached_ = true;
    facts_acknowledged_ = std::max(facts_acknowledged_, message.welcome().fact_sequence());
    facts_in_flight_ = facts_acknowledged_;
  } else if (message.has_facts_acknowledged()) {
    facts_acknowledged_ =
        std::max(facts_acknowledged_, message.facts_acknowledged().fact_sequence());
  } else if (message.has_stream_acknowledged()) {
    const v1::StreamId& stream = message.stream_acknowledged().stream();
    int64_t& offset = telemetry_acknowledged_[{{stream.job_id(), stream.attempt()}, stream.rank()}];
    offset = std::max(offset, message.stream_acknowledged().offset());
  } else if (message.has_start_attempt()) {
    Execute(attempts_->Start(message.start_attempt(), now), now);
  } else if (message.has_stop_attempt()) {
    Execute(attempts_->Stop(message.stop_attempt(), now), now);
  }
}

void SimulatedWorker::Step(int64_t controller_generation, Timestamp now) {
  if (!IsUp() || destroyed_) return;
  ObserveRanks(now);
  if (IsUp()) Execute(attempts_->Tick(now), now);
  if (!IsUp()) return;
  const bool broken = attached_ && now - received_ms_ > kStreamTimeoutMs;
  if (!attached_ || broken) {
    attached_ = false;
    controller_generation_ = controller_generation;
    if (now - hello_sent_ms_ >= 2 * kResendMs) SendHello(now);
    return;
  }
  if (now - heartbeat_sent_ms_ >= kHeartbeatMs) {
    SendHeartbeat(now);
    SendTelemetry(now);
  }
  SendFacts(now);
}

void SimulatedWorker::Send(v1::WorkerMessage message, Timestamp now) {
  network_.Send({node_id_, connection_, controller_generation_, std::move(message)}, now);
}

void SimulatedWorker::SendHello(Timestamp now) {
  ++connection_;
  hello_sent_ms_ = now;
  received_ms_ = now;
  v1::WorkerMessage message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_node_id(node_id_);
  hello.set_node_name(node_id_);
  hello.set_incarnation(absl::StrCat(incarnation_));
  hello.set_address(absl::StrCat("address-of-", node_id_));
  for (int i = 0; i < slots_; ++i) {
    v1::Slot& slot = *hello.mutable_inventory()->add_slots();
    slot.set_index(i);
    slot.set_kind(v1::DEVICE_KIND_CPU);
  }
  for (v1::AttemptReport& report : Reports()) *hello.add_attempts() = std::move(report);
  Send(std::move(message), now);
}

void SimulatedWorker::SendHeartbeat(Timestamp now) {
  heartbeat_sent_ms_ = now;
  v1::WorkerMessage message;
  message.mutable_heartbeat();
  for (v1::AttemptReport& report : Reports()) {
    *message.mutable_heartbeat()->add_attempts() = std::move(report);
  }
  Send(std::move(message), now);
}

void SimulatedWorker::SendFacts(Timestamp now) {
  // Facts that are not acknowledged in time are sent again.
  if (now - facts_sent_ms_ >= kResendMs) facts_in_flight_ = facts_acknowledged_;
  for (; facts_in_flight_ < disk_.facts.size(); ++facts_in_flight_) {
    facts_sent_ms_ = now;
    v1::WorkerMessage message;
    *message.mutable_fact() = disk_.facts[facts_in_flight_];
    Send(std::move(message), now);
  }
}

void SimulatedWorker::SendTelemetry(Timestamp now) {
  for (const auto& [key, process] : world_.processes()) {
    if (process.node_id != node_id_) continue;
    const int64_t begin = telemetry_acknowledged_[{process.attempt, process.rank}];
    const auto end = static_cast<int64_t>(process.telemetry.size());
    if (begin >= end) continue;
    v1::WorkerMessage message;
    v1::TelemetryBatch& batch = *message.mutable_telemetry();
    batch.mutable_stream()->set_job_id(process.attempt.first);
    batch.mutable_stream()->set_attempt(process.attempt.second);
    batch.mutable_stream()->set_rank(process.rank);
    batch.set_begin_offset(begin);
    batch.set_end_offset(end);
    for (int64_t i = begin; i < end; ++i) *batch.add_records() = process.telemetry[i];
    Send(std::move(message), now);
  }
}

std::vector<v1::AttemptReport> SimulatedWorker::Reports() const {
  std::vector<v1::AttemptReport> reports = attempts_->Reports();
  for (v1::AttemptReport& report : reports) {
    for (v1::RankReport& rank : *report.mutable_ranks()) {
      const Process* process =
          world_.Find(node_id_, {report.job_id(), report.attempt()}, rank.rank());
      if (process == nullptr) continue;
      rank.set_last_activity_ms(process->last_activity_ms);
      rank.set_phase(process->phase == "stuck" ? "train" : process->phase);
    }
  }
  return reports;
}

}  // namespace trainyard::simulation

#include "tests/simulation/world/simulated_worker.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tests/simulation/world/simulated_stream.h"
#include "worker/core/fact_queue.h"
#include "worker/core/processes.h"
#include "worker/core/seen_log.h"
#include "worker/core/term_fence.h"
#include "worker/core/uplink.h"
#include "worker/core/worker_kernel.h"

namespace trainyard::simulation {
namespace {

// Shortest backoff, longest backoff and time limit of a connection attempt, in ms
// (worker/rpc/attach_stream.h).
constexpr int64_t kShortestBackoffMs = 200;
constexpr int64_t kLongestBackoffMs = 2000;
constexpr int64_t kWelcomeTimeoutMs = 10'000;
// Maximum number of messages that a stream accepts per step.
constexpr int kMessagesInStep = 50;
// Time between two writes of the newest event-log mark to disk (worker/position_keeper.h).
constexpr int64_t kMarkKeptEveryMs = 5000;
// Assumed size of each fact on disk, large enough for compactions to occur.
constexpr int64_t kBytesOfFact = 4096;
constexpr int kSignalOfUnknownExit = 9;

// The clocks of nodes differ by minutes: the clock of "n0" is 14 min behind, and the clock of "n4"
// is 14 min ahead.
int64_t ClockAheadMs(const std::string& node_id) {
  constexpr int64_t kBetweenTwoMs = 7 * 60'000;
  return (node_id[1] - '2') * kBetweenTwoMs;
}

}  // namespace

class SimulatedWorker::Facts final : public worker::FactQueue {
 public:
  explicit Facts(SimulatedWorker& owner) : owner_(owner) {
    for (const v1::Fact& record : owner.disk_.facts) Restore(record);
  }

 private:
  absl::Status AppendRecord(const v1::Fact& record) override {
    absl::Status status = owner_.BeforeWrite(/*needs_space=*/true);
    if (status.ok()) owner_.disk_.facts.push_back(record);
    return status;
  }
  absl::Status ReplaceRecords(const std::vector<v1::Fact>& records) override {
    absl::Status status = owner_.BeforeWrite(/*needs_space=*/true);
    if (status.ok()) owner_.disk_.facts = records;
    return status;
  }
  int64_t DiskBytes() const override {
    return static_cast<int64_t>(owner_.disk_.facts.size()) * kBytesOfFact;
  }

  SimulatedWorker& owner_;
};

struct SimulatedWorker::Daemon {
  explicit Daemon(SimulatedWorker& owner)
      : facts(owner),
        attempts(owner, facts),
        uplink(facts),
        kernel(attempts, uplink),
        seen_log(owner.disk_.log_mark),
        term_fence(owner.disk_.leader_term) {}

  Facts facts;
  worker::AttemptKernel attempts;
  worker::Uplink uplink;
  worker::WorkerKernel kernel;
  worker::SeenLog seen_log;
  worker::TermFence term_fence;
  // Launches and signals that wait for the ranks' helper thread, in order.
  std::deque<std::function<void()>> helper;
  // 0 while no stream is open.
  int64_t stream = 0;
  bool welcomed = false;
  Timestamp dial_at_ms = 0;
  Timestamp welcome_until_ms = 0;
  bool died = false;
};

SimulatedWorker::SimulatedWorker(std::string node_id, int slots, TrainingWorld& world,
                                 Network& network, Random& random)
    : node_id_(std::move(node_id)),
      slots_(slots),
      clock_ahead_ms_(ClockAheadMs(node_id_)),
      world_(world),
      network_(network),
      random_(random) {
  slot_.set_kind(v1::DEVICE_KIND_CPU);
}

SimulatedWorker::~SimulatedWorker() = default;

void SimulatedWorker::SetHardware(const v1::Slot& slot,
                                  const std::map<std::string, std::string>& labels) {
  slot_ = slot;
  labels_ = labels;
}

void SimulatedWorker::Crash(Timestamp now) {
  if (daemon_ == nullptr) return;
  network_.Close(daemon_->stream, End::kWorker, now);
  daemon_ = nullptr;
}

void SimulatedWorker::Destroy(Timestamp now) {
  destroyed_ = true;
  if (daemon_ != nullptr) network_.Break(daemon_->stream, now);
  Crash(now);
  world_.CrashNode(node_id_);
}

void SimulatedWorker::Start(Timestamp now) {
  if (destroyed_) return;
  now_ = now;
  crash_between_actions_ = false;
  leaving_ = false;
  ++incarnation_;
  daemon_ = std::make_unique<Daemon>(*this);
  std::vector<v1::StartAttempt> commands;
  for (const auto& [key, command] : disk_.commands) commands.push_back(command);
  std::vector<v1::StartAttempt> lost;
  for (const auto& [key, command] : disk_.lost) lost.push_back(command);
  daemon_->attempts.Restore(disk_.seen_attempts, commands, lost);
  BuryDead();
}

void SimulatedWorker::LoseARecord() {
  if (disk_.commands.empty()) return;
  const auto attempts = static_cast<int64_t>(disk_.commands.size());
  const auto victim = std::next(disk_.commands.begin(), random_.Between(0, attempts - 1));
  const AttemptKey key = victim->first;
  world_.Hurt(key);
  v1::StartAttempt lost;
  lost.set_job_id(key.job_id);
  lost.set_attempt(key.number);
  for (const int rank : worker::RanksOf(victim->second)) {
    if (world_.Find(node_id_, key, rank) == nullptr) continue;
    lost.add_processes()->add_ranks()->set_rank(rank);
    if (random_.Chance(0.5)) disk_.unrecorded.insert({key, rank});
  }
  if (random_.Chance(0.5)) return;
  disk_.commands.erase(victim);
  // A folder without any rank record counts as left by an interrupted creation.
  if (!lost.processes().empty()) disk_.lost[key] = lost;
}

void SimulatedWorker::DamageFiles() {
  const auto facts = static_cast<int64_t>(disk_.facts.size());
  if (random_.Chance(0.5)) {
    disk_.facts.resize(random_.Between(0, facts));
  } else {
    std::erase_if(disk_.facts, [&](const v1::Fact&) { return random_.Chance(0.3); });
  }
  if (random_.Chance(0.3)) disk_.seen_attempts = {};
}

void SimulatedWorker::BuryDead() {
  if (daemon_ != nullptr && daemon_->died) Crash(now_);
}

absl::Status SimulatedWorker::BeforeWrite(bool needs_space) {
  if (crash_between_actions_ && random_.Chance(0.5)) {
    crash_between_actions_ = false;
    daemon_->died = true;
  }
  if (daemon_->died) return absl::AbortedError("the daemon was killed");
  if (needs_space && now_ < disk_full_until_ms_) return absl::ResourceExhaustedError("disk full");
  return absl::OkStatus();
}

absl::Status SimulatedWorker::BeforeStart(const AttemptKey& attempt) {
  if (now_ >= starts_fail_until_ms_ || random_.Chance(0.5)) return absl::OkStatus();
  world_.Hurt(attempt);
  return absl::ResourceExhaustedError("No space left on device");
}

absl::Status SimulatedWorker::CreateAttempt(const v1::StartAttempt& command) {
  absl::Status status = BeforeWrite(/*needs_space=*/false);
  if (status.ok()) status = BeforeStart({command.job_id(), command.attempt()});
  if (status.ok()) disk_.commands[{command.job_id(), command.attempt()}] = command;
  return status;
}

absl::Status SimulatedWorker::RememberAttempt(const AttemptKey& attempt) {
  absl::Status status = BeforeWrite(/*needs_space=*/true);
  if (status.ok()) disk_.seen_attempts.Raise(attempt.job_id, attempt.number);
  return status;
}

absl::Status SimulatedWorker::RecordFact(const v1::Fact& fact) {
  absl::Status status = daemon_->facts.Append(fact);
  if (status.ok()) daemon_->kernel.ReportNow(now_);
  return status;
}

absl::Status SimulatedWorker::RemoveAttempt(const AttemptKey& attempt) {
  absl::Status status = BeforeWrite(/*needs_space=*/false);
  if (!status.ok()) return status;
  disk_.commands.erase(attempt);
  disk_.lost.erase(attempt);
  std::erase_if(disk_.unrecorded, [&](const auto& rank) { return rank.attempt == attempt; });
  world_.RemoveFiles(node_id_, attempt);
  return status;
}

void SimulatedWorker::AddStreams(const v1::StartAttempt& command) {
  for (const int rank : worker::FirstRanksOf(command)) {
    const worker::RankKey key{{command.job_id(), command.attempt()}, rank};
    for (const v1::StreamKind kind : {v1::STREAM_KIND_TELEMETRY, v1::STREAM_KIND_LOG}) {
      daemon_->uplink.AddStream(std::make_unique<SimulatedStream>(world_, node_id_, key, kind,
                                                                  daemon_->attempts.attempts()));
    }
  }
}

void SimulatedWorker::RemoveStreams(const AttemptKey& attempt) {
  daemon_->uplink.RemoveStreams(attempt);
}

void SimulatedWorker::Describe(v1::AttemptReport& report) {
  const AttemptKey attempt{report.job_id(), report.attempt()};
  const v1::StartAttempt* command = daemon_->attempts.attempts().CommandOf(attempt);
  if (command == nullptr) return;
  for (v1::RankReport& rank : *report.mutable_ranks()) {
    const int first_rank = worker::FirstRankBeside(*command, rank.rank());
    const Process* process = world_.Find(node_id_, attempt, first_rank);
    if (process == nullptr) continue;
    rank.set_last_activity_ms(process->last_activity_ms);
    rank.set_phase(process->phase);
    rank.set_step(process->step);
    rank.mutable_newest()->set_init_seconds(static_cast<double>(process->init_ms) / 1000);
    rank.mutable_newest()->set_step(process->made_step);
    // A trainer writes a record after a step, so the record reports the generation of the newest
    // step.
    const bool has_stepped = process->phase == "train" && process->generation > 1;
    if (has_stepped) rank.mutable_newest()->set_generation(process->generation);
    if (!report.cleared() || first_rank != rank.rank()) continue;
    const worker::RankKey key{attempt, rank.rank()};
    v1::StreamEnd& telemetry = *report.add_stream_ends();
    *telemetry.mutable_stream() = StreamOf(key, v1::STREAM_KIND_TELEMETRY);
    telemetry.set_end_offset(static_cast<int64_t>(process->telemetry.size()));
    v1::StreamEnd& output = *report.add_stream_ends();
    *output.mutable_stream() = StreamOf(key, v1::STREAM_KIND_LOG);
    output.set_end_offset(process->output_bytes);
  }
}

void SimulatedWorker::Launch(const v1::StartAttempt& command, const worker::RankKey& rank) {
  daemon_->helper.emplace_back([this, command, rank] {
    if (now_ < starts_fail_until_ms_) {
      world_.Hurt(rank.attempt);
      return daemon_->attempts.LaunchFailed(rank, "cannot fork: no process left",
                                            v1::START_FAULT_NODE, Time());
    }
    world_.Spawn(node_id_, command, rank.rank, now_);
    // If the daemon crashes here, a rank has been spawned but not recorded.
    if (!BeforeWrite(/*needs_space=*/false).ok()) return;
    daemon_->attempts.Launched(rank);
    ObserveNow(rank);
  });
}

void SimulatedWorker::Signal(const worker::RankKey& rank, bool kill) {
  daemon_->helper.emplace_back([this, rank, kill] {
    world_.Signal(node_id_, rank.attempt, rank.rank, kill, now_);
    if (kill) daemon_->attempts.Killed(rank, /*waits_in_kernel=*/false, Time());
  });
}

absl::Status SimulatedWorker::WriteOrder(const worker::RankKey& rank, const std::string& order) {
  absl::Status status = BeforeWrite(/*needs_space=*/true);
  if (!status.ok()) return status;
  const auto text = nlohmann::json::parse(order);
  world_.WriteOrder({node_id_, rank.attempt, rank.rank},
                    {.generation = text.at("generation"),
                     .place = text.at("rank"),
                     .replaced = text.at("replaced").get<std::set<int>>()});
  return status;
}

void SimulatedWorker::Observe(const worker::RankKey& rank) {
  daemon_->helper.emplace_back([this, rank] { ObserveNow(rank); });
}

std::string SimulatedWorker::Stacks(int64_t pid) {
  return absl::StrCat(pid, " train (S) in pipe_wait");
}

void SimulatedWorker::ObserveNow(const worker::RankKey& rank) {
  using Presence = worker::RankStatus::Presence;
  worker::RankStatus status;
  const Process* process = world_.Find(node_id_, rank.attempt, rank.rank);
  if (process != nullptr && process->exited.has_value()) {
    status = StatusOfEnded(rank, *process);
    if (process->leaves_children) world_.Sweep(node_id_, rank.attempt, rank.rank, now_);
  } else if (process != nullptr) {
    // A rank without records is recognized by the mark in its process.
    status.presence = Presence::kRunning;
    status.pid = 1;
    status.started_ms = now_;
  }
  daemon_->attempts.Observed(rank, status, Time());
}

worker::RankStatus SimulatedWorker::StatusOfEnded(const worker::RankKey& rank,
                                                  const Process& process) const {
  worker::RankStatus status;
  status.processes_remain = process.leaves_children;
  status.exited = *process.exited;
  status.exited.set_time_ms(process.exited->time_ms() + clock_ahead_ms_);
  const bool is_recorded = !disk_.unrecorded.contains(rank);
  // An empty folder without a process looks like the folder of a rank that was never started. Only
  // the facts show that this rank was started.
  const bool is_known = daemon_->attempts.attempts().WasStarted(rank);
  if (!is_recorded && is_known && !process.leaves_children) return {};
  status.presence = worker::RankStatus::Presence::kEnded;
  if (is_recorded) {
    status.pid = 1;
    status.started_ms = now_;
  } else {
    status.exited.set_exit_code(0);
    status.exited.set_signal(kSignalOfUnknownExit);
  }
  return status;
}

void SimulatedWorker::RunHelper() {
  while (!daemon_->helper.empty() && !daemon_->died && random_.Chance(0.9)) {
    const std::function<void()> next = std::move(daemon_->helper.front());
    daemon_->helper.pop_front();
    next();
  }
}

void SimulatedWorker::EndForLimit(Timestamp now) {
  if (!IsUp()) return;
  now_ = now;
  for (const worker::RankView& rank : daemon_->attempts.attempts().Ranks()) {
    if (std::string_view(rank.state) != "running") continue;
    world_.Hurt(rank.key.attempt);
    world_.Flood(rank.key.attempt);
    daemon_->attempts.EndForLimit(rank.key, "it wrote too much");
    return;
  }
}

void SimulatedWorker::Leave(Timestamp now) {
  if (!IsUp()) return;
  if (!daemon_->welcomed || daemon_->stream == 0) return Crash(now);
  leaving_ = true;
  daemon_->kernel.Leave(now);
}

void SimulatedWorker::Receive(Arrival arrival, Timestamp now) {
  if (!IsUp() || destroyed_ || arrival.stream != daemon_->stream) return;
  now_ = now;
  if (std::holds_alternative<StreamClosed>(arrival.message)) {
    return StreamLost(now);
  }
  // The worker only logs errors. Unwritten facts are written again later.
  const auto& message = std::get<v1::ControllerMessage>(arrival.message);
  if (!daemon_->term_fence.Admit(message).ok()) {
    network_.Close(daemon_->stream, End::kWorker, now);
    return StreamLost(now);
  }
  disk_.leader_term = daemon_->term_fence.highest();
  NoteObeyed(TermOfField(message.leader_term()));
  if (!daemon_->welcomed && message.has_welcome()) {
    daemon_->welcomed = true;
    daemon_->seen_log.Take(message.welcome().log_mark());
    daemon_->kernel.OnWelcome(message.welcome(), now).IgnoreError();
  } else if (daemon_->welcomed) {
    if (daemon_->seen_log.Take(message)) KeepLogMark();
    daemon_->kernel.OnMessage(message, Time()).IgnoreError();
  }
  BuryDead();
}

void SimulatedWorker::StreamLost(Timestamp now) {
  daemon_->stream = 0;
  daemon_->kernel.OnClosed();
  daemon_->dial_at_ms = now + random_.Between(kShortestBackoffMs, kLongestBackoffMs);
}

void SimulatedWorker::Step(Timestamp now) {
  if (!IsUp() || destroyed_) return;
  now_ = now;
  v1::NodeCondition condition;
  if (now < trouble_until_ms_) condition.set_trouble("the disk is nearly full");
  condition.mutable_device_errors()->Assign(device_errors_.begin(), device_errors_.end());
  daemon_->kernel.SetCondition(std::move(condition), now);
  RunHelper();
  if (now % kMarkKeptEveryMs == 0) KeepLogMark();
  if (!daemon_->died) daemon_->attempts.Tick(Time());
  if (!daemon_->died && daemon_->stream == 0 && now >= daemon_->dial_at_ms) Dial();
  if (!daemon_->died && daemon_->stream != 0) SendWaiting();
  BuryDead();
  if (IsUp() && leaving_ && daemon_->kernel.HasSentFarewell()) Crash(now);
}

void SimulatedWorker::Dial() {
  daemon_->stream = network_.Open(node_id_);
  daemon_->welcomed = false;
  daemon_->welcome_until_ms = now_ + kWelcomeTimeoutMs;
  v1::WorkerMessage message;
  *message.mutable_hello() = daemon_->kernel.MakeHello(Greeting());
  message.mutable_hello()->set_time_ms(Time().wall_ms);
  if (daemon_->seen_log.newest().sequence() != 0) {
    *message.mutable_hello()->mutable_log_mark() = daemon_->seen_log.newest();
  }
  SetLeaderTerm(daemon_->term_fence.highest(), *message.mutable_hello());
  network_.Send(daemon_->stream, std::move(message), now_);
}

void SimulatedWorker::KeepLogMark() {
  disk_.log_mark = daemon_->seen_log.newest();
  daemon_->seen_log.Kept();
}

void SimulatedWorker::SendWaiting() {
  if (!daemon_->welcomed) {
    if (now_ < daemon_->welcome_until_ms) return;
    network_.Close(daemon_->stream, End::kWorker, now_);
    daemon_->stream = 0;
    daemon_->dial_at_ms = now_ + random_.Between(kShortestBackoffMs, kLongestBackoffMs);
    return;
  }
  for (int i = 0; i < kMessagesInStep; ++i) {
    std::optional<v1::WorkerMessage> message = daemon_->kernel.NextMessage(now_);
    if (!message.has_value()) return;
    if (message->has_heartbeat()) {
      message->mutable_heartbeat()->set_time_ms(Time().wall_ms);
      message->mutable_heartbeat()->add_checks()->set_ok(true);
    }
    network_.Send(daemon_->stream, *std::move(message), now_);
  }
}

void SimulatedWorker::LogDeviceError(int xid, Timestamp now) {
  v1::DeviceError& error = device_errors_.emplace_back();
  error.set_time_ms(now + clock_ahead_ms_);
  error.set_xid(xid);
  error.set_device("0000:3b:00");
}

void SimulatedWorker::SendForeign(Timestamp now) {
  if (!IsUp() || daemon_->stream == 0 || !daemon_->welcomed) return;
  for (const auto& [key, process] : world_.processes()) {
    if (process.node_id == node_id_ || process.exited.has_value()) continue;
    const worker::RankKey rank{process.attempt, process.rank};
    v1::WorkerMessage telemetry;
    v1::TelemetryBatch& batch = *telemetry.mutable_telemetry();
    *batch.mutable_stream() = StreamOf(rank, v1::STREAM_KIND_TELEMETRY);
    batch.set_end_offset(1'000'000);
    v1::CheckpointRecord& checkpoint = *batch.add_records()->mutable_checkpoint();
    checkpoint.set_step(999'999);
    checkpoint.set_path("/c/foreign");
    network_.Send(daemon_->stream, std::move(telemetry), now);
    v1::WorkerMessage output;
    *output.mutable_log()->mutable_stream() = StreamOf(rank, v1::STREAM_KIND_LOG);
    output.mutable_log()->set_data(std::string(100'000, '!'));
    network_.Send(daemon_->stream, std::move(output), now);
    return;
  }
}

int64_t SimulatedWorker::UnacknowledgedFacts() const {
  return daemon_ == nullptr ? 0 : daemon_->facts.unacknowledged();
}

v1::Hello SimulatedWorker::Greeting() const {
  v1::Hello hello;
  hello.set_node_id(node_id_);
  hello.set_node_name(node_id_);
  hello.set_incarnation(absl::StrCat(incarnation_));
  hello.set_address(absl::StrCat("address-of-", node_id_));
  hello.mutable_labels()->insert(labels_.begin(), labels_.end());
  hello.mutable_inventory()->set_cpu_cores(kSimulatedCores);
  hello.mutable_inventory()->set_memory_bytes(kSimulatedMemory);
  for (int i = 0; i < slots_; ++i) {
    v1::Slot& slot = *hello.mutable_inventory()->add_slots();
    slot = slot_;
    slot.set_index(i);
  }
  return hello;
}

}  // namespace trainyard::simulation

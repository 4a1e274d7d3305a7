#include "worker/attempt_keeper.h"

#include <chrono>
#include <cstdlib>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "proto/contract/limits.h"
#include "proto/contract/utf8.h"
#include "proto/json/message_json.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "spdlog/spdlog.h"
#include "worker/process/secret_files.h"

namespace trainyard::worker {
namespace {

// Fallback: the exit watch on each process is quicker, but does not see every change.
constexpr Timestamp kObserveEveryMs = 500;
constexpr Timestamp kRetryWriteMs = 1000;
constexpr int kSpawnFailedExitCode = 127;

// A clock that never goes back, unlike the wall clock of the facts: setting the wall clock must not
// kill a rank early.
Timestamp SteadyNow() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::string Name(const AttemptKey& key) {
  return absl::StrCat("job ", key.job_id, " attempt ", key.number);
}

std::map<std::string, std::string> WorkerEnvironment() {
  std::map<std::string, std::string> environment;
  for (const std::string& name : PassedThroughVariables()) {
    if (const char* value = std::getenv(name.c_str())) environment[name] = value;
  }
  return environment;
}

void LogFact(const v1::Fact& fact) {
  if (fact.has_rank_started()) {
    const v1::RankStarted& started = fact.rank_started();
    spdlog::info("{} rank {} started, pid {}", Name({started.job_id(), started.attempt()}),
                 started.rank(), started.pid());
  } else if (fact.has_rank_exited()) {
    const v1::RankExited& exited = fact.rank_exited();
    spdlog::info("{} rank {} ended: code {}, signal {}{}",
                 Name({exited.job_id(), exited.attempt()}), exited.rank(), exited.exit_code(),
                 exited.signal(), exited.spawn_error().empty() ? "" : ", " + exited.spawn_error());
  } else {
    const v1::AttemptCleared& cleared = fact.attempt_cleared();
    spdlog::info("{} is cleared", Name({cleared.job_id(), cleared.attempt()}));
  }
}

// The attempt that a fact belongs to.
AttemptKey AttemptOf(const v1::Fact& fact) {
  if (fact.has_rank_started()) return {fact.rank_started().job_id(), fact.rank_started().attempt()};
  if (fact.has_rank_exited()) return {fact.rank_exited().job_id(), fact.rank_exited().attempt()};
  return {fact.attempt_cleared().job_id(), fact.attempt_cleared().attempt()};
}

}  // namespace

AttemptKeeper::AttemptKeeper(boost::asio::io_context& loop, const DataDir& data_dir,
                             const Clock& clock, Options options, Handler handler)
    : data_dir_(data_dir),
      clock_(clock),
      options_(std::move(options)),
      handler_(std::move(handler)),
      folders_(data_dir.File("attempts")),
      runner_(
          loop, options_.worker_program,
          {.on_launch_failed = [this](const RankKey& key,
                                      const absl::Status& status) { OnLaunchFailed(key, status); },
           .on_launched = [this](const RankKey& key) { attempts_.SpawnUncertain(key); },
           .on_observed =
               [this](const RankKey& key, const RankObservation& observation) {
                 OnObserved(key, observation);
               }}) {}

absl::StatusOr<std::unique_ptr<AttemptKeeper>> AttemptKeeper::Open(boost::asio::io_context& loop,
                                                                   const DataDir& data_dir,
                                                                   const Clock& clock,
                                                                   Options options,
                                                                   Handler handler) {
  auto keeper = std::unique_ptr<AttemptKeeper>(
      new AttemptKeeper(loop, data_dir, clock, std::move(options), std::move(handler)));
  TRAINYARD_RETURN_IF_ERROR(keeper->Load());
  return keeper;
}

absl::Status AttemptKeeper::Load() {
  TRAINYARD_ASSIGN_OR_RETURN(facts_, FactLog::Open(data_dir_.File("facts.bin")));
  if (facts_->dropped_bytes() > 0) {
    spdlog::warn("facts.bin: cut {} bytes that were never completed", facts_->dropped_bytes());
  }
  TRAINYARD_ASSIGN_OR_RETURN(attempt_numbers_,
                             AttemptNumberLog::Open(data_dir_.File("attempt_numbers.bin")));
  // Name of the file in versions that called the attempt an epoch.
  TRAINYARD_RETURN_IF_ERROR(attempt_numbers_->TakeOver(data_dir_.File("epochs.bin")));
  TRAINYARD_ASSIGN_OR_RETURN(const AttemptFolders::Found found, folders_.Scan());
  for (const std::string& warning : found.warnings) spdlog::warn("{}", warning);
  attempts_.Restore(attempt_numbers_->newest(), found.attempts, facts_->facts());
  for (const v1::StartAttempt& command : found.attempts) {
    spdlog::info("{} found on disk, {} rank(s)", Name({command.job_id(), command.attempt()}),
                 command.ranks_size());
    AddStreams(command);
  }
  for (const RankKey& key : attempts_.RanksToObserve()) {
    runner_.Observe(key, folders_.RankDir(key));
  }
  return absl::OkStatus();
}

void AttemptKeeper::AddStreams(const v1::StartAttempt& command) {
  for (const v1::RankStart& rank : command.ranks()) {
    const RankKey key = {{command.job_id(), command.attempt()}, rank.rank()};
    const auto gone = [this, key] { return attempts_.IsGone(key); };
    const auto [it, added] =
        streams_.try_emplace(key, command, key, folders_.RankDir(key), gone, clock_);
    if (!added) continue;
    for (auto& source : it->second.MakeSources()) handler_.on_stream_added(std::move(source));
  }
}

void AttemptKeeper::Start(const v1::StartAttempt& command) {
  CarryOut(attempts_.Start(command, SteadyNow()));
}

void AttemptKeeper::Stop(const v1::StopAttempt& command) {
  CarryOut(attempts_.Stop(command, SteadyNow()));
}

void AttemptKeeper::Forget(const v1::ForgetAttempt& command) {
  const AttemptKey key = {command.job_id(), command.attempt()};
  CarryOut(attempts_.Forget(command));
  if (attempts_.Contains(key)) return;
  std::erase_if(streams_, [&](const auto& entry) { return entry.first.attempt == key; });
  handler_.on_attempt_removed(key);
}

void AttemptKeeper::StopAll(Timestamp grace_ms_max) {
  CarryOut(attempts_.StopAll(grace_ms_max, SteadyNow()));
}

void AttemptKeeper::Tick() {
  const Timestamp now = SteadyNow();
  CarryOut(attempts_.Tick(now));
  if (!unwritten_.empty() && now >= retry_write_at_ms_) WriteAhead();
  if (now < observe_at_ms_) return;
  observe_at_ms_ = now + kObserveEveryMs;
  for (const RankKey& key : attempts_.RanksToObserve()) {
    runner_.Observe(key, folders_.RankDir(key));
  }
}

void AttemptKeeper::CarryOut(Actions actions) {
  for (const Action& action : actions) CarryOutOne(action);
  WriteAhead();
}

void AttemptKeeper::CarryOutOne(const Action& action) {
  if (const auto* create = std::get_if<CreateAttempt>(&action)) {
    Create(create->attempt);
  } else if (const auto* spawn = std::get_if<SpawnRank>(&action)) {
    Spawn(spawn->rank);
  } else if (const auto* signal = std::get_if<SendSignal>(&action)) {
    runner_.Signal(signal->rank, folders_.RankDir(signal->rank), signal->kill);
  } else if (const auto* refused = std::get_if<RefuseCommand>(&action)) {
    spdlog::warn("refused: {}", refused->reason);
  } else {
    unwritten_.push_back(action);
  }
}

void AttemptKeeper::Create(const AttemptKey& key) {
  const v1::StartAttempt* command = attempts_.CommandOf(key);
  if (command == nullptr) return;
  const absl::Status status = folders_.Create(*command);
  AddStreams(*command);
  if (status.ok()) return;
  spdlog::error("{}: {}", Name(key), Text(status));
  // Later SpawnRank actions of this attempt find its ranks ended and do nothing.
  CarryOut(attempts_.CreationFailed(key, Text(status), clock_.Now()));
}

LaunchSite AttemptKeeper::SiteOf(const RankKey& key) const {
  LaunchSite site;
  site.rank_dir = folders_.RankDir(key);
  site.spec_path = absl::StrCat(site.rank_dir, "/", kSpecFile);
  site.telemetry_path = absl::StrCat(site.rank_dir, "/", kTelemetryFile);
  site.trainer_program = options_.trainer_program;
  site.worker_environment = WorkerEnvironment();
  site.inventory = options_.inventory;
  return site;
}

void AttemptKeeper::Spawn(const RankKey& key) {
  const v1::StartAttempt* command = attempts_.CommandOf(key.attempt);
  if (command == nullptr || !attempts_.IsSpawning(key)) return;
  const auto& names = command->spec().secrets();
  auto secrets = ReadSecrets(options_.secrets_dir, {names.begin(), names.end()});
  if (!secrets.ok()) return OnLaunchFailed(key, secrets.status());
  LaunchSite site = SiteOf(key);
  site.secrets = std::move(*secrets);
  for (const v1::RankStart& start : command->ranks()) {
    if (start.rank() != key.rank) continue;
    runner_.Launch(key,
                   {.rank_dir = site.rank_dir,
                    .spec_path = site.spec_path,
                    .spec_json = MessageToJson(command->spec()).dump(2) + "\n",
                    .checkpoint_dir = command->checkpoint_dir()},
                   MakeRankLaunch(*command, start, site));
  }
}

void AttemptKeeper::WriteAhead() {
  while (!unwritten_.empty()) {
    const absl::Status status = Write(unwritten_.front());
    if (!status.ok()) {
      retry_write_at_ms_ = SteadyNow() + kRetryWriteMs;
      if (std::exchange(last_write_error_, Text(status)) == Text(status)) return;
      spdlog::error("{}; trying again until it succeeds, nothing is lost", Text(status));
      return;
    }
    last_write_error_.clear();
    unwritten_.pop_front();
  }
}

absl::Status AttemptKeeper::Write(const Action& action) {
  if (const auto* remember = std::get_if<RememberAttempt>(&action)) {
    return attempt_numbers_->Remember(remember->job_id, remember->attempt);
  }
  if (const auto* remove = std::get_if<RemoveAttempt>(&action)) {
    spdlog::info("{} is stored by the controller; removing its files", Name(remove->attempt));
    return folders_.Remove(remove->attempt);
  }
  const v1::Fact& fact = std::get<RecordFact>(action).fact;
  TRAINYARD_RETURN_IF_ERROR(facts_->Append(fact));
  LogFact(fact);
  handler_.on_fact_recorded(fact);
  return absl::OkStatus();
}

void AttemptKeeper::OnLaunchFailed(const RankKey& key, const absl::Status& status) {
  v1::RankExited exited;
  exited.set_job_id(key.attempt.job_id);
  exited.set_attempt(key.attempt.number);
  exited.set_rank(key.rank);
  exited.set_exit_code(kSpawnFailedExitCode);
  exited.set_spawn_error(Text(status));
  exited.set_time_ms(clock_.Now());
  CarryOut(attempts_.RankEnded(exited));
}

void AttemptKeeper::OnObserved(const RankKey& key, const RankObservation& observation) {
  const RankState& state = observation.state;
  switch (state.presence) {
    case RankPresence::kNeverStarted:
      CarryOut(attempts_.RankNeverSpawned(key));
      return;
    case RankPresence::kStarting:
      return;
    case RankPresence::kRunning:
      CarryOut(attempts_.RankSpawned(key, state.rank_pid, state.started_ms));
      return;
    case RankPresence::kExited:
    case RankPresence::kVanished:
      if (state.rank_pid > 0 && state.exit.spawn_error.empty()) {
        CarryOut(attempts_.RankSpawned(key, state.rank_pid, state.started_ms));
      }
      CarryOut(attempts_.RankEnded(ExitOf(key, observation)));
      if (!state.processes_remain) CarryOut(attempts_.RankGone(key));
      return;
  }
}

v1::RankExited AttemptKeeper::ExitOf(const RankKey& key, const RankObservation& observation) const {
  const RankExit& exit = observation.state.exit;
  v1::RankExited exited;
  exited.set_job_id(key.attempt.job_id);
  exited.set_attempt(key.attempt.number);
  exited.set_rank(key.rank);
  exited.set_exit_code(exit.exit_code);
  exited.set_signal(exit.signal);
  exited.set_out_of_memory(exit.out_of_memory);
  exited.set_spawn_error(exit.spawn_error);
  exited.set_time_ms(exit.ended_ms > 0 ? exit.ended_ms : clock_.Now());
  std::string tail = observation.log_tail;
  if (!observation.state.summary.empty()) absl::StrAppend(&tail, "\n", observation.state.summary);
  if (exit.exit_code != 0 || exit.signal != 0) {
    exited.set_log_tail(std::string(LastLines(tail, kMaxLogTailBytes)));
  }
  return exited;
}

void AttemptKeeper::FactsAcknowledged() {
  for (const v1::Fact& fact : facts_->facts()) {
    if (fact.sequence() > facts_->acknowledged()) break;
    if (fact.sequence() <= acknowledged_seen_ || !fact.has_attempt_cleared()) continue;
    attempts_.ClearedAcknowledged(AttemptOf(fact));
  }
  acknowledged_seen_ = facts_->acknowledged();
  const absl::Status status =
      facts_->Compact([this](const v1::Fact& fact) { return attempts_.Contains(AttemptOf(fact)); });
  if (!status.ok()) spdlog::error("cannot compact facts.bin: {}", Text(status));
}

std::vector<v1::AttemptReport> AttemptKeeper::Reports() {
  std::vector<v1::AttemptReport> reports = attempts_.Reports();
  for (v1::AttemptReport& report : reports) {
    for (v1::RankReport& rank : *report.mutable_ranks()) {
      const auto streams = streams_.find({{report.job_id(), report.attempt()}, rank.rank()});
      if (streams == streams_.end()) continue;
      streams->second.Report(rank);
      if (!report.cleared()) continue;
      for (v1::StreamEnd& end : streams->second.Ends()) *report.add_stream_ends() = std::move(end);
    }
  }
  return reports;
}

}  // namespace trainyard::worker

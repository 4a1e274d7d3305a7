#include "worker/core/attempt_kernel.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "proto/support/status_text.h"
#include "worker/core/heal_order.h"
#include "worker/core/processes.h"

namespace trainyard::worker {
namespace {

// The interval at which all processes are checked. Normally a watch on each process reports the
// process's exit earlier, but a watch misses some changes.
constexpr Timestamp kObserveEveryMs = 500;
constexpr Timestamp kRetryWriteMs = 1000;

// SIGKILL. Reported for every rank with an unobserved exit.
constexpr int kSignalOfUnknownExit = 9;
// Texts for the log tail of a rank's reported exit.
constexpr char kLostRecords[] =
    "the worker's records of this rank are lost, and no process of the rank is left";
constexpr char kLostAttempt[] =
    "\nthe worker ended the attempt, because the start command (start.pb in the worker's data "
    "directory) was lost or damaged";

// Returns the exit to report for a rank that was started but has neither records nor processes.
v1::RankExited UnknownExit(const RankKey& rank, const WorkerTime& now) {
  v1::RankExited exited;
  exited.set_job_id(rank.attempt.job_id);
  exited.set_attempt(rank.attempt.number);
  exited.set_rank(rank.rank);
  exited.set_signal(kSignalOfUnknownExit);
  exited.set_log_tail(kLostRecords);
  exited.set_time_ms(now.wall_ms);
  return exited;
}

// The attempt that a fact belongs to.
AttemptKey AttemptOf(const v1::Fact& fact) {
  if (fact.has_rank_started()) return {fact.rank_started().job_id(), fact.rank_started().attempt()};
  if (fact.has_rank_exited()) return {fact.rank_exited().job_id(), fact.rank_exited().attempt()};
  return {fact.attempt_cleared().job_id(), fact.attempt_cleared().attempt()};
}

}  // namespace

void AttemptKernel::Restore(const SeenAttempts& seen_attempts,
                            const std::vector<v1::StartAttempt>& on_disk,
                            const std::vector<v1::StartAttempt>& lost) {
  attempts_.Restore(seen_attempts, on_disk, facts_.facts(), lost);
  for (const v1::StartAttempt& command : on_disk) io_.AddStreams(command);
  for (const v1::StartAttempt& command : lost) io_.AddStreams(command);
  for (const RankKey& rank : attempts_.RanksToObserve()) io_.Observe(rank);
}

void AttemptKernel::Start(const v1::StartAttempt& command, const WorkerTime& now) {
  CarryOut(attempts_.Start(WithProcesses(command), now.steady_ms), now);
}

void AttemptKernel::Stop(const v1::StopAttempt& command, const WorkerTime& now) {
  TakeStacks(command);
  CarryOut(attempts_.Stop(command, now.steady_ms), now);
}

// Takes the stacks of each rank only once. The command may be repeated, and after the stop signal
// the rank's threads wait elsewhere.
void AttemptKernel::TakeStacks(const v1::StopAttempt& command) {
  const AttemptKey attempt{command.job_id(), command.attempt()};
  const v1::StartAttempt* started = attempts_.CommandOf(attempt);
  if (started == nullptr) return;
  for (const int rank : command.stacks_of()) {
    const RankKey key{attempt, FirstRankBeside(*started, rank)};
    const int64_t pid = attempts_.PidOf(key);
    if (pid > 0 && !stacks_.contains(key)) stacks_[key] = io_.Stacks(pid);
  }
}

void AttemptKernel::Forget(const v1::ForgetAttempt& command, const WorkerTime& now) {
  const AttemptKey attempt = {command.job_id(), command.attempt()};
  CarryOut(attempts_.Forget(command), now);
  if (attempts_.Contains(attempt)) return;
  io_.RemoveStreams(attempt);
  const auto is_its_own = [&](const auto& rank) { return rank.first.attempt == attempt; };
  std::erase_if(limits_exceeded_, is_its_own);
  std::erase_if(stacks_, is_its_own);
}

void AttemptKernel::StopAll(Timestamp grace_ms_max, const WorkerTime& now) {
  CarryOut(attempts_.StopAll(grace_ms_max, now.steady_ms), now);
}

void AttemptKernel::Heal(const v1::HealAttempt& command) {
  for (const RankKey& rank : attempts_.OrdersDue(command)) {
    const absl::Status status = io_.WriteOrder(rank, OrderText(command, rank.rank));
    if (status.ok()) {
      attempts_.OrderWritten(rank, command.generation());
    } else {
      io_.Warn(absl::StrCat("job ", rank.attempt.job_id, " attempt ", rank.attempt.number, " rank ",
                            rank.rank, ": cannot write the heal order: ", Text(status)));
    }
  }
}

void AttemptKernel::WarnRanks(const v1::WarnAttempt& command) {
  const bool second = command.signal() == "USR2";
  // A newer controller may name a signal that this worker does not know. That signal could end the
  // ranks, so it is not replaced by another one.
  if (!second && command.signal() != "USR1") {
    return io_.Warn(absl::StrCat("the worker refused a command: unknown signal ", command.signal(),
                                 " for a warning"));
  }
  for (const RankKey& rank : attempts_.WarningsDue(command)) io_.SendUserSignal(rank, second);
}

void AttemptKernel::Tick(const WorkerTime& now) {
  CarryOut(attempts_.Tick(now.steady_ms), now);
  if (now.steady_ms < observe_at_ms_) return;
  observe_at_ms_ = now.steady_ms + kObserveEveryMs;
  for (const RankKey& rank : attempts_.RanksToObserve()) io_.Observe(rank);
}

void AttemptKernel::CarryOut(const Actions& actions, const WorkerTime& now) {
  for (const Action& action : actions) CarryOutOne(action, now);
  if (now.steady_ms >= retry_write_at_ms_) WriteAhead(now);
}

void AttemptKernel::CarryOutOne(const Action& action, const WorkerTime& now) {
  if (const auto* create = std::get_if<CreateAttempt>(&action)) {
    Create(create->attempt, now);
  } else if (const auto* spawn = std::get_if<SpawnRank>(&action)) {
    Spawn(spawn->rank);
  } else if (const auto* cancel = std::get_if<CancelSpawn>(&action)) {
    io_.CancelLaunch(cancel->rank);
  } else if (const auto* signal = std::get_if<SendSignal>(&action)) {
    io_.Signal(signal->rank, signal->kill);
  } else if (const auto* refused = std::get_if<RefuseCommand>(&action)) {
    io_.Warn(absl::StrCat("the worker refused a command: ", refused->reason));
  } else {
    unwritten_.push_back(action);
  }
}

void AttemptKernel::Create(const AttemptKey& attempt, const WorkerTime& now) {
  const v1::StartAttempt* command = attempts_.CommandOf(attempt);
  if (command == nullptr) return;
  absl::Status status = CheckShapes(*command);
  if (status.ok()) status = io_.CreateAttempt(*command);
  io_.AddStreams(*command);
  if (status.ok()) return;
  io_.Warn(absl::StrCat("job ", attempt.job_id, " attempt ", attempt.number, ": ", Text(status)));
  // CreationFailed ends the ranks, so later SpawnRank actions of this attempt do nothing.
  const v1::StartFault fault =
      absl::IsInvalidArgument(status) ? v1::START_FAULT_JOB : v1::START_FAULT_NODE;
  CarryOut(attempts_.CreationFailed(attempt, Text(status), fault, now.wall_ms), now);
}

void AttemptKernel::Spawn(const RankKey& rank) {
  const v1::StartAttempt* command = attempts_.CommandOf(rank.attempt);
  if (command != nullptr && attempts_.IsSpawning(rank)) io_.Launch(*command, rank);
}

void AttemptKernel::WriteAhead(const WorkerTime& now) {
  while (!unwritten_.empty()) {
    const absl::Status status = Write(unwritten_.front());
    if (!status.ok()) {
      retry_write_at_ms_ = now.steady_ms + kRetryWriteMs;
      if (std::exchange(last_write_error_, Text(status)) == Text(status)) return;
      io_.Warn(absl::StrCat(Text(status), "; retrying until the write succeeds. No data is lost"));
      return;
    }
    last_write_error_.clear();
    unwritten_.pop_front();
  }
}

absl::Status AttemptKernel::Write(const Action& action) {
  if (const auto* remember = std::get_if<RememberAttempt>(&action)) {
    return io_.RememberAttempt(remember->attempt);
  }
  if (const auto* remove = std::get_if<RemoveAttempt>(&action)) {
    return io_.RemoveAttempt(remove->attempt);
  }
  return io_.RecordFact(std::get<RecordFact>(action).fact);
}

void AttemptKernel::LaunchFailed(const RankKey& rank, const std::string& error,
                                 v1::StartFault fault, const WorkerTime& now) {
  v1::RankExited exited;
  exited.set_job_id(rank.attempt.job_id);
  exited.set_attempt(rank.attempt.number);
  exited.set_rank(rank.rank);
  exited.set_exit_code(kSpawnFailedExitCode);
  exited.set_spawn_error(error);
  exited.set_start_fault(fault);
  exited.set_time_ms(now.wall_ms);
  CarryOut(attempts_.RankEnded(exited), now);
}

void AttemptKernel::EndForLimit(const RankKey& rank, const std::string& reason) {
  if (limits_exceeded_.try_emplace(rank, reason).second) {
    io_.Warn(absl::StrCat("job ", rank.attempt.job_id, " attempt ", rank.attempt.number, " rank ",
                          rank.rank, " is ended, because ", reason));
  }
  io_.Signal(rank, /*kill=*/true);
}

void AttemptKernel::Killed(const RankKey& rank, bool waits_in_kernel, const WorkerTime& now) {
  CarryOut(attempts_.RankKilled(rank, waits_in_kernel, now.steady_ms), now);
}

void AttemptKernel::Ended(const RankKey& rank, v1::RankExited exited, const WorkerTime& now) {
  if (attempts_.IsLost(rank.attempt)) absl::StrAppend(exited.mutable_log_tail(), kLostAttempt);
  const auto exceeded = limits_exceeded_.find(rank);
  if (exceeded != limits_exceeded_.end()) exited.set_limit_exceeded(exceeded->second);
  const auto stacks = stacks_.find(rank);
  if (stacks != stacks_.end()) exited.set_stacks(stacks->second);
  CarryOut(attempts_.RankEnded(exited), now);
}

void AttemptKernel::Observed(const RankKey& rank, const RankStatus& status, const WorkerTime& now) {
  switch (status.presence) {
    case RankStatus::Presence::kNeverStarted:
      if (!attempts_.WasStarted(rank)) return CarryOut(attempts_.RankNeverSpawned(rank), now);
      Ended(rank, UnknownExit(rank, now), now);
      return CarryOut(attempts_.RankGone(rank), now);
    case RankStatus::Presence::kStarting:
      return;
    case RankStatus::Presence::kRunning:
      return CarryOut(attempts_.RankSpawned(rank, status.pid, status.started_ms), now);
    case RankStatus::Presence::kEnded:
      if (status.pid > 0 && status.exited.spawn_error().empty()) {
        CarryOut(attempts_.RankSpawned(rank, status.pid, status.started_ms), now);
      }
      Ended(rank, status.exited, now);
      if (!status.processes_remain) CarryOut(attempts_.RankGone(rank), now);
      return;
  }
}

absl::Status AttemptKernel::FactsAcknowledged() {
  for (const v1::Fact& fact : facts_.facts()) {
    if (fact.sequence() > facts_.acknowledged()) break;
    if (fact.sequence() <= acknowledged_seen_ || !fact.has_attempt_cleared()) continue;
    attempts_.ClearedAcknowledged(AttemptOf(fact));
  }
  acknowledged_seen_ = facts_.acknowledged();
  return facts_.Compact(
      [this](const v1::Fact& fact) { return attempts_.Contains(AttemptOf(fact)); });
}

std::vector<v1::AttemptReport> AttemptKernel::Reports() {
  std::vector<v1::AttemptReport> reports = attempts_.Reports();
  for (v1::AttemptReport& report : reports) io_.Describe(report);
  return reports;
}

}  // namespace trainyard::worker

#include "controller/core/apply/apply_attempt.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/heals.h"
#include "controller/core/apply/job_pause.h"
#include "controller/core/apply/time_limits.h"
#include "controller/core/apply/yields.h"
#include "controller/core/ledger/ledger.h"
#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/attempts/elastic_yield.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/lost_training.h"
#include "controller/core/state/attempts/restart_budget.h"
#include "controller/core/state/attempts/rollbacks.h"
#include "controller/core/state/attempts/time_limit.h"
#include "controller/core/state/jobs/job_state_machine.h"
#include "controller/core/state/slots/slot_ledger.h"
#include "controller/core/state/slots/waiting_jobs.h"
#include "controller/core/support/invariant.h"

namespace trainyard::controller {
namespace {

// Returns the attempt with this number if it is the job's live attempt, else nullptr.
v1::Attempt* LiveAttemptOf(int64_t attempt_number, JobEntry& entry) {
  const v1::Attempt* live = LiveAttempt(entry);
  if (live == nullptr || live->number() != attempt_number) return nullptr;
  return entry.job.mutable_attempts(entry.job.attempts_size() - 1);
}

v1::Attempt& RequireLive(int64_t attempt_number, JobEntry& entry) {
  v1::Attempt* live = LiveAttemptOf(attempt_number, entry);
  Require(live != nullptr,
          absl::StrCat("job ", entry.job.id(), " has no live attempt ", attempt_number));
  return *live;
}

// Folds the oldest attempts into sums and drops the ranks of older attempts, so that the state
// stays small even if the job restarts for months.
void TrimAttempts(v1::Job& job) {
  while (job.attempts_size() > kAttemptsKept) FoldOldestAttempt(job);
  const int bare = job.attempts_size() - kAttemptsKeptWithRanks;
  for (int i = bare - 1; i >= 0 && job.attempts(i).ranks_size() > 0; --i) {
    job.mutable_attempts(i)->clear_ranks();
  }
}

void ApplyKind(const v1::JobPlaced& placed, const v1::Event& event, ClusterState& state) {
  JobEntry& entry = EntryOf(placed.job_id(), state);
  v1::Job& job = entry.job;
  RemoveWaiting(job, state);
  job.clear_preempts();
  const v1::Attempt* before = NewestAttempt(entry);
  if (before != nullptr) {
    Require(before->state() == v1::ATTEMPT_STATE_ENDED && before->number() < placed.attempt(),
            absl::StrCat("job ", job.id(), " has a live attempt or a newer attempt"));
    ReleaseSlots(job.id(), *before, state);
  }
  MoveJob(v1::JOB_STATE_STARTING, job);
  v1::Attempt& attempt = *job.add_attempts();
  attempt.set_number(placed.attempt());
  attempt.set_state(v1::ATTEMPT_STATE_STARTING);
  *attempt.mutable_ranks() = placed.ranks();
  attempt.set_standbys(StandbyCount(attempt));
  attempt.set_master_address(placed.master_address());
  attempt.set_master_port(placed.master_port());
  attempt.set_resume_from(placed.resume_from());
  attempt.set_resume_step(placed.resume_step());
  attempt.set_resume_attempt(placed.resume_attempt());
  attempt.set_skip_samples(placed.skip_samples());
  attempt.set_lr_factor(placed.lr_factor());
  attempt.set_placed_time_ms(event.time_ms());
  attempt.set_paused_before_ms(job.paused_ms());
  attempt.set_paused_from_ms(job.paused_from_ms());
  job.clear_paused_ms();
  job.clear_paused_from_ms();
  if (placed.resumed()) job.set_resumed_starts(job.resumed_starts() + 1);
  if (placed.has_layout()) *attempt.mutable_layout() = placed.layout();
  attempt.set_size_change(placed.size_change());
  TakeSlots(job.id(), attempt, state);
  state.rendezvous_in_use.insert({placed.master_address(), placed.master_port()});
  state.live_jobs.insert(job.id());
  job.set_not_before_ms(0);
  entry.started_ranks.clear();
  entry.exited_ranks.clear();
  entry.cleared_nodes.clear();
  entry.first_failure_ms = 0;
  entry.slow_ranks.clear();
  TrimAttempts(job);
}

void ApplyKind(const v1::RankStarted& started, const v1::Event&, ClusterState& state) {
  JobEntry& entry = EntryOf(started.job_id(), state);
  if (LiveAttemptOf(started.attempt(), entry) != nullptr)
    entry.started_ranks.insert(started.rank());
}

// Adds the rank's output and stacks to the verdict on a stall. The worker reports both only after
// the verdict, when it kills the rank.
void AddFinalOutput(const v1::RankExited& exited, v1::Attempt& attempt) {
  const auto& stalled = attempt.verdict().ranks();
  const bool is_first = !stalled.empty() && stalled[0] == PlaceOf(attempt.ranks(exited.rank()));
  if (attempt.stop_reason() != v1::STOP_REASON_STALLED || !is_first) return;
  attempt.mutable_verdict()->set_log_tail(exited.log_tail());
  attempt.mutable_verdict()->set_stacks(exited.stacks());
}

void ApplyKind(const v1::RankExited& exited, const v1::Event& event, ClusterState& state) {
  JobEntry& entry = EntryOf(exited.job_id(), state);
  v1::Attempt* live = LiveAttemptOf(exited.attempt(), entry);
  if (live == nullptr || entry.exited_ranks.contains(exited.rank())) return;
  v1::RankExited& kept = entry.exited_ranks[exited.rank()] = exited;
  // A worker that was killed between a rank's start and its exit reports only the exit. Such an
  // exit also proves the start, unless the rank could not be spawned.
  if (exited.spawn_error().empty()) entry.started_ranks.insert(exited.rank());
  // Exits of a stopping gang are consequences of the stop. Only a rank that may have caused the
  // failure keeps its final output, which takes up to 8 KiB per rank.
  const bool may_be_culprit = IsFailure(exited) && IsSeated(live->ranks(exited.rank())) &&
                              live->state() != v1::ATTEMPT_STATE_STOPPING;
  if (!may_be_culprit) kept.clear_log_tail();
  kept.clear_stacks();
  AddFinalOutput(exited, *live);
  if (may_be_culprit && entry.first_failure_ms == 0) entry.first_failure_ms = event.time_ms();
}

void ApplyKind(const v1::AttemptRunning& running, const v1::Event& event, ClusterState& state) {
  JobEntry& entry = EntryOf(running.job_id(), state);
  v1::Attempt& attempt = RequireLive(running.attempt(), entry);
  MoveAttempt(v1::ATTEMPT_STATE_RUNNING, attempt);
  attempt.set_started_time_ms(event.time_ms());
  MoveJob(v1::JOB_STATE_RUNNING, entry.job);
}

void ApplyKind(const v1::AttemptBegan& began, const v1::Event&, ClusterState& state) {
  JobEntry& entry = EntryOf(began.job_id(), state);
  RequireLive(began.attempt(), entry).set_first_step(began.first_step());
}

void ApplyKind(const v1::LearningRateChanged& changed, const v1::Event&, ClusterState& state) {
  JobEntry& entry = EntryOf(changed.job_id(), state);
  *RequireLive(changed.attempt(), entry).mutable_rate_change() = changed.change();
}

void ApplyKind(const v1::StallEnded& stall, const v1::Event&, ClusterState& state) {
  JobEntry& entry = EntryOf(stall.job_id(), state);
  v1::TimeUse& use = *RequireLive(stall.attempt(), entry).mutable_time_use();
  use.set_stalled_ms(use.stalled_ms() + stall.until_ms() - stall.since_ms());
  use.set_stalled_until_ms(stall.until_ms());
}

void ApplyKind(const v1::TrainingTimeLost& lost, const v1::Event&, ClusterState& state) {
  JobEntry& entry = EntryOf(lost.job_id(), state);
  AddLostTraining({lost.phase(), lost.until_ms(), lost.lost_ms()},
                  *RequireLive(lost.attempt(), entry).mutable_time_use());
}

// Stores the verdict on an attempt that is being stopped.
void Judge(const v1::Verdict& verdict, v1::Attempt& attempt, JobEntry& entry) {
  *attempt.mutable_verdict() = verdict;
  for (auto& [rank, exited] : entry.exited_ranks) exited.clear_log_tail();
}

// If the job is pausing or already recovering, its state does not change.
void Recover(v1::Job& job) {
  const bool runs = job.state() == v1::JOB_STATE_STARTING || job.state() == v1::JOB_STATE_RUNNING;
  if (runs) MoveJob(v1::JOB_STATE_RECOVERING, job);
}

void ApplyKind(const v1::AttemptFailed& failed, const v1::Event& event, ClusterState& state) {
  JobEntry& entry = EntryOf(failed.job_id(), state);
  v1::Attempt& attempt = RequireLive(failed.attempt(), entry);
  const bool stalled = failed.verdict().cause() == v1::VERDICT_CAUSE_STALLED;
  StopAttempt(stalled ? v1::STOP_REASON_STALLED : v1::STOP_REASON_FAILED, event.time_ms(), entry,
              state);
  Judge(failed.verdict(), attempt, entry);
  Recover(entry.job);
}

void ApplyKind(const v1::AttemptRolledBack& back, const v1::Event& event, ClusterState& state) {
  JobEntry& entry = EntryOf(back.job_id(), state);
  const v1::Attempt* newest = NewestAttempt(entry);
  Require(newest != nullptr && newest->number() == back.attempt(),
          absl::StrCat("attempt ", back.attempt(), " of job ", back.job_id(),
                       " is not the newest attempt of that job"));
  *entry.job.add_rollbacks() = back.rollback();
  MarkRolledBack(entry.job);
  v1::Attempt& attempt = *entry.job.mutable_attempts()->rbegin();
  Judge(back.verdict(), attempt, entry);
  // If the attempt has already ended, its ranks failed because of the same loss. Only the verdict
  // changes then.
  if (attempt.state() == v1::ATTEMPT_STATE_ENDED) return;
  StopAttempt(v1::STOP_REASON_ROLLED_BACK, event.time_ms(), entry, state);
  Recover(entry.job);
}

void ApplyKind(const v1::AttemptCleared& cleared, const v1::Event&, ClusterState& state) {
  JobEntry& entry = EntryOf(cleared.job_id(), state);
  const v1::Attempt* newest = NewestAttempt(entry);
  const bool is_newest = newest != nullptr && newest->number() == cleared.attempt();
  if (is_newest) entry.cleared_nodes.insert(cleared.node_id());
  const bool replaced = is_newest && ReplacedNodes(*newest).contains(cleared.node_id());
  if (replaced) ReleaseSlotsOn(cleared.job_id(), *newest, cleared.node_id(), state);
  const bool reserved = is_newest && !replaced && KeepsNode(*newest, cleared.node_id()) &&
                        state.reservations.contains(cleared.job_id());
  MarkCleared({cleared.job_id(), cleared.attempt()}, cleared.node_id(), reserved, state);
}

void ApplyKind(const v1::AttemptEnded& ended, const v1::Event& event, ClusterState& state) {
  JobEntry& entry = EntryOf(ended.job_id(), state);
  v1::Attempt& attempt = RequireLive(ended.attempt(), entry);
  CountAttempt(event.time_ms(), entry.job);
  MoveAttempt(v1::ATTEMPT_STATE_ENDED, attempt);
  attempt.set_ended_time_ms(event.time_ms());
  attempt.set_last_step(std::max(attempt.last_step(), ended.last_step()));
  if (ended.has_time_use()) *attempt.mutable_time_use() = ended.time_use();
  if (ended.has_loss()) attempt.set_loss(ended.loss());
  if (ended.has_validation_loss()) attempt.set_validation_loss(ended.validation_loss());
  const AttemptKey key{ended.job_id(), ended.attempt()};
  for (const std::string& node_id : GangNodes(attempt)) {
    state.nodes.at(node_id).live_jobs.erase(ended.job_id());
    if (!entry.cleared_nodes.contains(node_id)) MarkUncleared(key, node_id, state);
  }
  state.rendezvous_in_use.erase({attempt.master_address(), attempt.master_port()});
  state.live_jobs.erase(ended.job_id());
  state.stopping_jobs.erase(ended.job_id());
  if (ended.retry_not_before_ms() == 0) return;
  if (attempt.yield().cause() == v1::YIELD_CAUSE_TIME_LIMIT) BeginPeriod(entry.job);
  entry.job.set_not_before_ms(ended.retry_not_before_ms());
  if (!ended.uncounted()) CountRestart(event.time_ms(), entry);
  if (entry.job.state() == v1::JOB_STATE_PAUSING) {
    return entry.job.has_pause() ? CompletePause(entry, state) : CompleteYield(entry, state);
  }
  AddWaiting(entry.job, state);
}

}  // namespace

void ApplyToAttempt(const v1::Event& event, ClusterState& state) {
  using E = v1::Event;
  switch (event.kind_case()) {
    case E::kJobPlaced:
      return ApplyKind(event.job_placed(), event, state);
    case E::kRankStarted:
      return ApplyKind(event.rank_started(), event, state);
    case E::kRankExited:
      return ApplyKind(event.rank_exited(), event, state);
    case E::kAttemptRunning:
      return ApplyKind(event.attempt_running(), event, state);
    case E::kAttemptBegan:
      return ApplyKind(event.attempt_began(), event, state);
    case E::kLearningRateChanged:
      return ApplyKind(event.learning_rate_changed(), event, state);
    case E::kStallEnded:
      return ApplyKind(event.stall_ended(), event, state);
    case E::kTrainingTimeLost:
      return ApplyKind(event.training_time_lost(), event, state);
    case E::kAttemptFailed:
      return ApplyKind(event.attempt_failed(), event, state);
    case E::kAttemptRolledBack:
      return ApplyKind(event.attempt_rolled_back(), event, state);
    case E::kAttemptHealing:
      return TakeHealing(event.attempt_healing(), event.time_ms(), state);
    case E::kAttemptHealed:
      return TakeHealed(event.attempt_healed(), event.time_ms(), state);
    case E::kAttemptYielded:
      return TakeYielded(event, state);
    case E::kAttemptCleared:
      return ApplyKind(event.attempt_cleared(), event, state);
    case E::kAttemptEnded:
      return ApplyKind(event.attempt_ended(), event, state);
    case E::kTimeLimitWarned:
    case E::kTimeLimitReached:
      return ApplyToTimeLimit(event, state);
    default:
      DieOfBrokenInvariant("an event that is not about an attempt");
  }
}

}  // namespace trainyard::controller

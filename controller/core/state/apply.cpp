#include "controller/core/state/apply.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/ledger/ledger.h"
#include "controller/core/state/attempt_outcome.h"
#include "controller/core/state/capacity.h"
#include "controller/core/state/checkpoint_list.h"
#include "controller/core/state/ended_jobs.h"
#include "controller/core/state/evidence_list.h"
#include "controller/core/state/gang.h"
#include "controller/core/state/heals.h"
#include "controller/core/state/history_losses.h"
#include "controller/core/state/job_pause.h"
#include "controller/core/state/job_state_machine.h"
#include "controller/core/state/origin_list.h"
#include "controller/core/state/removed_nodes.h"
#include "controller/core/state/restart_budget.h"
#include "controller/core/state/rollbacks.h"
#include "controller/core/state/slot_ledger.h"
#include "controller/core/state/time_shift.h"
#include "controller/core/state/waiting_jobs.h"
#include "controller/core/support/invariant.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/support/job_state.h"

namespace trainyard::controller {
namespace {

// The attempt if it is the job's live one, else nullptr.
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

v1::Attempt* FindAttempt(int64_t attempt_number, v1::Job& job) {
  for (v1::Attempt& attempt : *job.mutable_attempts()) {
    if (attempt.number() == attempt_number) return &attempt;
  }
  return nullptr;
}

// Keeps the state of a job that restarts for months small.
void TrimAttempts(v1::Job& job) {
  while (job.attempts_size() > kAttemptsKept) FoldOldestAttempt(job);
  const int bare = job.attempts_size() - kAttemptsKeptWithRanks;
  for (int i = bare - 1; i >= 0 && job.attempts(i).ranks_size() > 0; --i) {
    job.mutable_attempts(i)->clear_ranks();
  }
}

void AddJob(const v1::JobSubmitted& submitted, v1::JobSpec spec, const v1::Event& event,
            ClusterState& state) {
  Require(submitted.job_id() >= state.next_job_id, "job ids only grow");
  state.next_job_id = submitted.job_id() + 1;
  state.newest_job_id = submitted.job_id();
  JobEntry& entry = state.jobs[submitted.job_id()];
  v1::Job& job = entry.job;
  job.set_id(submitted.job_id());
  job.set_name(spec.name());
  job.set_user(submitted.user());
  job.set_state(v1::JOB_STATE_QUEUED);
  *job.mutable_spec() = std::move(spec);
  entry.origin_list =
      submitted.origins().empty() ? submitted.origin_list() : PackOrigins(submitted.origins());
  job.set_submitted_time_ms(event.time_ms());
  entry.request_id = submitted.request_id();
  if (submitted.held()) Hold(event, job);
  AddWaiting(job, state);
  state.jobs_by_name[job.name()].insert(job.id());
  state.job_by_checkpoint_dir[CheckpointDirectory(job.spec())] = job.id();
  if (!entry.request_id.empty()) state.job_by_request_id[entry.request_id] = job.id();
}

void ApplyKind(const v1::JobSubmitted& submitted, const v1::Event& event, ClusterState& state) {
  AddJob(submitted, submitted.spec(), event, state);
}

void ApplyKind(const v1::JobPlaced& placed, const v1::Event& event, ClusterState& state) {
  JobEntry& entry = EntryOf(placed.job_id(), state);
  v1::Job& job = entry.job;
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
  TakeSlots(job.id(), attempt, state);
  state.rendezvous_in_use.insert({placed.master_address(), placed.master_port()});
  RemoveWaiting(job, state);
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

// The rank that hung reports its output and stacks when it is killed, after the verdict.
void AddFinalOutput(const v1::RankExited& exited, v1::Attempt& attempt) {
  const auto& hung = attempt.verdict().ranks();
  const bool is_first = !hung.empty() && hung[0] == PlaceOf(attempt.ranks(exited.rank()));
  if (attempt.stop_reason() != v1::STOP_REASON_HUNG || !is_first) return;
  attempt.mutable_verdict()->set_log_tail(exited.log_tail());
  attempt.mutable_verdict()->set_stacks(exited.stacks());
}

void ApplyKind(const v1::RankExited& exited, const v1::Event& event, ClusterState& state) {
  JobEntry& entry = EntryOf(exited.job_id(), state);
  v1::Attempt* live = LiveAttemptOf(exited.attempt(), entry);
  if (live == nullptr || entry.exited_ranks.contains(exited.rank())) return;
  v1::RankExited& kept = entry.exited_ranks[exited.rank()] = exited;
  // A worker killed between the two facts reports only the second.
  if (exited.spawn_error().empty()) entry.started_ranks.insert(exited.rank());
  // Exits of a stopping gang are consequences. Only a possible culprit keeps its final output,
  // which takes up to 8 KiB per rank.
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

// Stores the verdict on an attempt that is being stopped.
void Judge(const v1::Verdict& verdict, v1::Attempt& attempt, JobEntry& entry) {
  *attempt.mutable_verdict() = verdict;
  for (auto& [rank, exited] : entry.exited_ranks) exited.clear_log_tail();
}

// A job that is pausing or already recovering keeps its state.
void Recover(v1::Job& job) {
  const bool runs = job.state() == v1::JOB_STATE_STARTING || job.state() == v1::JOB_STATE_RUNNING;
  if (runs) MoveJob(v1::JOB_STATE_RECOVERING, job);
}

void ApplyKind(const v1::AttemptFailed& failed, const v1::Event& event, ClusterState& state) {
  JobEntry& entry = EntryOf(failed.job_id(), state);
  v1::Attempt& attempt = RequireLive(failed.attempt(), entry);
  const bool hung = failed.verdict().cause() == v1::VERDICT_CAUSE_HUNG;
  StopAttempt(hung ? v1::STOP_REASON_HUNG : v1::STOP_REASON_FAILED, event.time_ms(), attempt);
  Judge(failed.verdict(), attempt, entry);
  Recover(entry.job);
}

void ApplyKind(const v1::AttemptRolledBack& back, const v1::Event& event, ClusterState& state) {
  JobEntry& entry = EntryOf(back.job_id(), state);
  const v1::Attempt* newest = NewestAttempt(entry);
  Require(
      newest != nullptr && newest->number() == back.attempt(),
      absl::StrCat("attempt ", back.attempt(), " of job ", back.job_id(), " is not its newest"));
  *entry.job.add_rollbacks() = back.rollback();
  MarkRolledBack(entry.job);
  v1::Attempt& attempt = *entry.job.mutable_attempts()->rbegin();
  Judge(back.verdict(), attempt, entry);
  // The ranks of an ended attempt failed over the same loss.
  if (attempt.state() == v1::ATTEMPT_STATE_ENDED) return;
  StopAttempt(v1::STOP_REASON_ROLLED_BACK, event.time_ms(), attempt);
  Recover(entry.job);
}

void ApplyKind(const v1::AttemptCleared& cleared, const v1::Event&, ClusterState& state) {
  JobEntry& entry = EntryOf(cleared.job_id(), state);
  const v1::Attempt* newest = NewestAttempt(entry);
  const bool is_newest = newest != nullptr && newest->number() == cleared.attempt();
  if (is_newest) entry.cleared_nodes.insert(cleared.node_id());
  const bool replaced = is_newest && ReplacedNodes(*newest).contains(cleared.node_id());
  if (replaced) ReleaseSlotsOn(cleared.job_id(), *newest, cleared.node_id(), state);
  const bool reserved = is_newest && !replaced && state.recovering_jobs.contains(cleared.job_id());
  MarkCleared({cleared.job_id(), cleared.attempt()}, cleared.node_id(), reserved, state);
}

void ApplyKind(const v1::AttemptEnded& ended, const v1::Event& event, ClusterState& state) {
  JobEntry& entry = EntryOf(ended.job_id(), state);
  v1::Attempt& attempt = RequireLive(ended.attempt(), entry);
  MoveAttempt(v1::ATTEMPT_STATE_ENDED, attempt);
  attempt.set_ended_time_ms(event.time_ms());
  attempt.set_last_step(std::max(attempt.last_step(), ended.last_step()));
  if (ended.has_time_use()) *attempt.mutable_time_use() = ended.time_use();
  const AttemptKey key{ended.job_id(), ended.attempt()};
  for (const std::string& node_id : GangNodes(attempt)) {
    state.nodes.at(node_id).live_jobs.erase(ended.job_id());
    if (!entry.cleared_nodes.contains(node_id)) MarkUncleared(key, node_id, state);
  }
  state.rendezvous_in_use.erase({attempt.master_address(), attempt.master_port()});
  state.live_jobs.erase(ended.job_id());
  if (ended.retry_not_before_ms() == 0) return;
  entry.job.set_not_before_ms(ended.retry_not_before_ms());
  if (!ended.uncounted()) CountRestart(event.time_ms(), entry);
  if (entry.job.state() == v1::JOB_STATE_PAUSING) return CompletePause(entry, state);
  AddWaiting(entry.job, state);
}

void ApplyKind(const v1::JobStopRequested& requested, const v1::Event& event, ClusterState& state) {
  JobEntry& entry = EntryOf(requested.job_id(), state);
  const v1::Attempt* live = LiveAttempt(entry);
  Require(live != nullptr, absl::StrCat("job ", requested.job_id(), " has nothing to stop"));
  entry.stop_requested = true;
  if (requested.kill()) entry.kill_requested = true;
  StopAttempt(v1::STOP_REASON_USER, event.time_ms(), RequireLive(live->number(), entry));
  EndPause(event.time_ms(), entry.job);
  if (entry.job.state() != v1::JOB_STATE_STOPPING) MoveJob(v1::JOB_STATE_STOPPING, entry.job);
}

void ApplyKind(const v1::JobEnded& ended, const v1::Event& event, ClusterState& state) {
  JobEntry& entry = EntryOf(ended.job_id(), state);
  Require(LiveAttempt(entry) == nullptr,
          absl::StrCat("job ", ended.job_id(), " still has a live attempt"));
  MoveJob(ended.state(), entry.job);
  EndPause(event.time_ms(), entry.job);
  entry.job.set_ended_time_ms(event.time_ms());
  entry.job.set_not_before_ms(0);
  *entry.job.mutable_verdict() = ended.verdict();
  RemoveWaiting(entry.job, state);
  state.ended_jobs.insert({event.time_ms(), ended.job_id()});
  const auto directory = state.job_by_checkpoint_dir.find(CheckpointDirectory(entry.job.spec()));
  const bool is_its_own =
      directory != state.job_by_checkpoint_dir.end() && directory->second == ended.job_id();
  if (is_its_own) state.job_by_checkpoint_dir.erase(directory);
  if (entry.job.attempts_size() == 0) return;
  v1::Attempt& newest = *entry.job.mutable_attempts(entry.job.attempts_size() - 1);
  if (!newest.has_verdict()) *newest.mutable_verdict() = ended.verdict();
  ReleaseSlots(ended.job_id(), newest, state);
}

void ApplyKind(const v1::CheckpointPublished& published, const v1::Event&, ClusterState& state) {
  v1::Job& job = EntryOf(published.job_id(), state).job;
  const v1::Checkpoint& checkpoint = published.checkpoint();
  AddCheckpoint(checkpoint, job);
  v1::Attempt* attempt = FindAttempt(checkpoint.attempt(), job);
  if (attempt != nullptr) {
    attempt->set_last_step(std::max(attempt->last_step(), checkpoint.step()));
  }
}

void ApplyKind(const v1::CheckpointDeleted& deleted, const v1::Event&, ClusterState& state) {
  RemoveCheckpoint(deleted, EntryOf(deleted.job_id(), state).job);
}

void ApplyKind(const v1::CheckpointRejected& rejected, const v1::Event&, ClusterState& state) {
  MarkDamaged(rejected, EntryOf(rejected.job_id(), state).job);
}

// Alerts are history for users and do not change the state. Exception: alerts of the loss guard,
// and hang alerts of the watchdog, are recorded so that neither acts on the same step again.
void ApplyKind(const v1::AlertRaised& raised, const v1::Event&, ClusterState& state) {
  const bool hung = raised.by_watchdog() && raised.code() == telemetry::kHung;
  if (!raised.by_guard() && !hung) return;
  JobEntry& entry = EntryOf(raised.job_id(), state);
  std::pair<int64_t, int64_t>& newest = raised.by_guard() ? entry.guarded : entry.watched;
  newest = std::max(newest, {raised.attempt(), raised.step()});
}

void ApplyKind(const v1::NodeJoined& joined, const v1::Event& event, ClusterState& state) {
  v1::Node node = joined.node();
  const auto known = state.nodes.find(node.id());
  node.set_joined_time_ms(known == state.nodes.end() ? event.time_ms()
                                                     : known->second.node.joined_time_ms());
  node.set_last_heartbeat_ms(event.time_ms());
  node.set_state(v1::NODE_STATE_READY);
  const bool is_new = known == state.nodes.end();
  ReplaceNode(node, state);
  if (is_new) RecallNode(node.id(), state);
  NodeEntry& entry = state.nodes.at(node.id());
  entry.place = joined.place();
  if (!joined.secret_hash().empty()) entry.binding.secret_hash = joined.secret_hash();
  if (!joined.node_key().empty()) entry.binding.key = joined.node_key();
}

void ApplyKind(const v1::NodeRemoved& removed, const v1::Event& event, ClusterState& state) {
  ForgetNode(removed.node_id(), event.time_ms(), state);
}

void SetNodeState(const std::string& node_id, v1::NodeState to, const std::string& reason,
                  ClusterState& state) {
  EditNode(
      node_id,
      [&](NodeEntry& entry) {
        entry.node.set_state(to);
        entry.node.set_state_reason(reason);
      },
      state);
}

void ApplyKind(const v1::NodeSuspected& suspected, const v1::Event& event, ClusterState& state) {
  SetNodeState(
      suspected.node_id(), v1::NODE_STATE_SUSPECT,
      absl::StrCat("no heartbeat for ", event.time_ms() - suspected.last_heartbeat_ms(), " ms"),
      state);
  state.nodes.at(suspected.node_id()).node.set_last_heartbeat_ms(suspected.last_heartbeat_ms());
}

void ApplyKind(const v1::NodeReturned& returned, const v1::Event& event, ClusterState& state) {
  SetNodeState(returned.node_id(), v1::NODE_STATE_READY, "", state);
  state.nodes.at(returned.node_id()).node.set_last_heartbeat_ms(event.time_ms());
}

void ApplyKind(const v1::NodeLost& lost, const v1::Event&, ClusterState& state) {
  SetNodeState(lost.node_id(), v1::NODE_STATE_LOST, lost.reason(), state);
}

void ApplyKind(const v1::FactsReceived& received, const v1::Event&, ClusterState& state) {
  const auto found = state.nodes.find(received.node_id());
  Require(found != state.nodes.end(), absl::StrCat("no node ", received.node_id()));
  found->second.fact_sequence = received.fact_sequence();
}

void ApplyKind(const v1::NodeCordoned& cordoned, const v1::Event& event, ClusterState& state) {
  EditNode(
      cordoned.node_id(),
      [&](NodeEntry& entry) {
        entry.node.set_cordoned(true);
        entry.node.set_cordon_reason(
            cordoned.reason().empty() ? absl::StrCat("by ", event.actor())
                                      : absl::StrCat(cordoned.reason(), " (", event.actor(), ")"));
      },
      state);
}

void ApplyKind(const v1::StoreRestored& restored, const v1::Event&, ClusterState& state) {
  SkipNumbers(restored.skipped_job_ids(), restored.skipped_attempts(), state);
}

void ApplyKind(const v1::EventsLost& lost, const v1::Event& event, ClusterState& state) {
  SkipNumbers(lost.skipped_job_ids(), lost.skipped_attempts(), state);
  AddLoss(event, state);
}

void ApplyKind(const v1::JobDeleted& deleted, const v1::Event&, ClusterState& state) {
  ForgetJob(deleted.job_id(), state);
}

void ApplyKind(const v1::LayoutChosen& chosen, const v1::Event&, ClusterState& state) {
  std::vector<v1::GrantedLayout>& layouts = EntryOf(chosen.job_id(), state).layouts;
  layouts.push_back(chosen.layout());
  if (layouts.size() > kLayoutsKept) layouts.erase(layouts.begin());
}

void ApplyKind(const v1::NodeUncordoned& uncordoned, const v1::Event&, ClusterState& state) {
  EditNode(
      uncordoned.node_id(),
      [&](NodeEntry& entry) {
        entry.node.clear_cordoned();
        entry.node.clear_cordon_reason();
      },
      state);
}

void ApplyKind(const v1::NodeUnhealthy& unhealthy, const v1::Event&, ClusterState& state) {
  EditNode(
      unhealthy.node_id(),
      [&](NodeEntry& entry) { *entry.node.mutable_health() = unhealthy.health(); }, state);
}

void ApplyKind(const v1::NodeHealthy& healthy, const v1::Event&, ClusterState& state) {
  EditNode(
      healthy.node_id(), [](NodeEntry& entry) { entry.node.clear_health(); }, state);
}

// A straggler is reported only once.
void ApplyKind(const v1::NodeBlamed& blamed, const v1::Event&, ClusterState& state) {
  const v1::NodeEvidence& evidence = blamed.evidence();
  EditNode(
      blamed.node_id(), [&](NodeEntry& entry) { AddEvidence(evidence, entry.node); }, state);
  if (evidence.fault() != v1::NODE_FAULT_SLOW) return;
  JobEntry& entry = EntryOf(evidence.job_id(), state);
  const v1::Attempt* newest = NewestAttempt(entry);
  const bool is_newest = newest != nullptr && newest->number() == evidence.attempt();
  if (is_newest) entry.slow_ranks.insert(evidence.rank());
}

void ApplyKind(const v1::NodeReleased& released, const v1::Event& event, ClusterState& state) {
  EditNode(
      released.node_id(), [&](NodeEntry& entry) { EndQuarantine(event.time_ms(), entry.node); },
      state);
}

// Applies an event about a node.
void ChangeNode(const v1::Event& event, ClusterState& state) {
  using E = v1::Event;
  switch (event.kind_case()) {
    case E::kNodeJoined:
      return ApplyKind(event.node_joined(), event, state);
    case E::kNodeRemoved:
      return ApplyKind(event.node_removed(), event, state);
    case E::kNodeSuspected:
      return ApplyKind(event.node_suspected(), event, state);
    case E::kNodeReturned:
      return ApplyKind(event.node_returned(), event, state);
    case E::kNodeLost:
      return ApplyKind(event.node_lost(), event, state);
    case E::kFactsReceived:
      return ApplyKind(event.facts_received(), event, state);
    case E::kNodeCordoned:
      return ApplyKind(event.node_cordoned(), event, state);
    case E::kNodeUncordoned:
      return ApplyKind(event.node_uncordoned(), event, state);
    case E::kNodeUnhealthy:
      return ApplyKind(event.node_unhealthy(), event, state);
    case E::kNodeHealthy:
      return ApplyKind(event.node_healthy(), event, state);
    case E::kNodeBlamed:
      return ApplyKind(event.node_blamed(), event, state);
    case E::kNodeReleased:
      return ApplyKind(event.node_released(), event, state);
    default:
      DieOfBrokenInvariant("an event that is not about a node");
  }
}

void ApplyToNode(const v1::Event& event, ClusterState& state) {
  const int64_t slots = state.present_slots;
  ChangeNode(event, state);
  // A state written by an older release has no capacity history yet.
  const bool is_due = state.present_slots != slots || state.capacity.since_ms() == 0;
  if (is_due) CountCapacity(slots, event.time_ms(), state.capacity);
}

// Applies a user's request for a job that has not ended.
void ApplyUserRequest(const v1::Event& event, ClusterState& state) {
  if (event.has_job_paused()) return TakePaused(event, state);
  if (event.has_job_resumed()) return TakeResumed(event, state);
  ApplyKind(event.job_stop_requested(), event, state);
}

void ApplyToAttempt(const v1::Event& event, ClusterState& state) {
  using E = v1::Event;
  switch (event.kind_case()) {
    case E::kAttemptRunning:
      return ApplyKind(event.attempt_running(), event, state);
    case E::kAttemptBegan:
      return ApplyKind(event.attempt_began(), event, state);
    case E::kAttemptFailed:
      return ApplyKind(event.attempt_failed(), event, state);
    case E::kAttemptRolledBack:
      return ApplyKind(event.attempt_rolled_back(), event, state);
    case E::kAttemptHealing:
      return TakeHealing(event.attempt_healing(), event.time_ms(), state);
    case E::kAttemptHealed:
      return TakeHealed(event.attempt_healed(), event.time_ms(), state);
    case E::kAttemptCleared:
      return ApplyKind(event.attempt_cleared(), event, state);
    case E::kAttemptEnded:
      return ApplyKind(event.attempt_ended(), event, state);
    default:
      DieOfBrokenInvariant("an event that is not about an attempt");
  }
}

void ApplyToCheckpoint(const v1::Event& event, ClusterState& state) {
  if (event.has_checkpoint_published()) {
    return ApplyKind(event.checkpoint_published(), event, state);
  }
  if (event.has_checkpoint_deleted()) return ApplyKind(event.checkpoint_deleted(), event, state);
  ApplyKind(event.checkpoint_rejected(), event, state);
}

// Applies an event about the log itself: a restore, a loss, or a step of the clock.
void ApplyToHistory(const v1::Event& event, ClusterState& state) {
  if (event.has_store_restored()) return ApplyKind(event.store_restored(), event, state);
  if (event.has_events_lost()) return ApplyKind(event.events_lost(), event, state);
  if (event.has_clock_set()) return TakeClockSet(event.clock_set(), state);
  AddLoss(event, state);
}

// Removes an ended job from the state: it was archived or deleted.
void ApplyDeparture(const v1::Event& event, ClusterState& state) {
  if (event.has_job_deleted()) return ApplyKind(event.job_deleted(), event, state);
  TakeArchived(event.job_archived(), event.time_ms(), state);
}

void ChangeState(const v1::Event& event, ClusterState& state) {
  using E = v1::Event;
  switch (event.kind_case()) {
    case E::kJobSubmitted:
      return ApplyKind(event.job_submitted(), event, state);
    case E::kJobPlaced:
      return ApplyKind(event.job_placed(), event, state);
    case E::kRankStarted:
      return ApplyKind(event.rank_started(), event, state);
    case E::kRankExited:
      return ApplyKind(event.rank_exited(), event, state);
    case E::kAttemptRunning:
    case E::kAttemptBegan:
    case E::kAttemptFailed:
    case E::kAttemptRolledBack:
    case E::kAttemptHealing:
    case E::kAttemptHealed:
    case E::kAttemptCleared:
    case E::kAttemptEnded:
      return ApplyToAttempt(event, state);
    case E::kJobStopRequested:
    case E::kJobPaused:
    case E::kJobResumed:
      return ApplyUserRequest(event, state);
    case E::kJobEnded:
      return ApplyKind(event.job_ended(), event, state);
    case E::kCheckpointPublished:
    case E::kCheckpointDeleted:
    case E::kCheckpointRejected:
      return ApplyToCheckpoint(event, state);
    case E::kAlertRaised:
      return ApplyKind(event.alert_raised(), event, state);
    case E::kJobArchived:
    case E::kJobDeleted:
      return ApplyDeparture(event, state);
    case E::kStoreRestored:
    case E::kEventsLost:
    case E::kStoreDataLost:
    case E::kClockSet:
      return ApplyToHistory(event, state);
    case E::kLayoutChosen:
      return ApplyKind(event.layout_chosen(), event, state);
    case E::kNodeJoined:
    case E::kNodeRemoved:
    case E::kNodeSuspected:
    case E::kNodeReturned:
    case E::kNodeLost:
    case E::kFactsReceived:
    case E::kNodeCordoned:
    case E::kNodeUncordoned:
    case E::kNodeUnhealthy:
    case E::kNodeHealthy:
    case E::kNodeBlamed:
    case E::kNodeReleased:
      return ApplyToNode(event, state);
    case E::KIND_NOT_SET:
      break;
  }
  DieOfBrokenInvariant("an event of a kind that this version does not know");
}

}  // namespace

void Apply(const v1::Event& event, ClusterState& state) {
  ChangeState(event, state);
  state.clock.set_newest_ms(event.time_ms());
}

void ApplyTakingSpec(v1::Event& event, ClusterState& state) {
  if (!event.has_job_submitted()) return Apply(event, state);
  state.clock.set_newest_ms(event.time_ms());
  v1::JobSubmitted& submitted = *event.mutable_job_submitted();
  AddJob(submitted, std::move(*submitted.mutable_spec()), event, state);
  submitted.clear_spec();
}

}  // namespace trainyard::controller

#include "controller/core/apply/apply.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/apply_attempt.h"
#include "controller/core/apply/apply_node.h"
#include "controller/core/apply/array_progress.h"
#include "controller/core/apply/checkpoint_list.h"
#include "controller/core/apply/dependents.h"
#include "controller/core/apply/ended_jobs.h"
#include "controller/core/apply/job_notes.h"
#include "controller/core/apply/job_pause.h"
#include "controller/core/apply/job_relations.h"
#include "controller/core/apply/time_limits.h"
#include "controller/core/apply/time_shift.h"
#include "controller/core/event_log/event_job.h"
#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/jobs/history_losses.h"
#include "controller/core/state/jobs/job_state_machine.h"
#include "controller/core/state/jobs/origin_list.h"
#include "controller/core/state/jobs/run_end.h"
#include "controller/core/state/nodes/topology.h"
#include "controller/core/state/slots/queues.h"
#include "controller/core/state/slots/slot_ledger.h"
#include "controller/core/state/slots/waiting_jobs.h"
#include "controller/core/support/invariant.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/jobspec/matrix/matrix.h"
#include "proto/support/job_state.h"

namespace trainyard::controller {
namespace {

v1::Attempt* FindAttempt(int64_t attempt_number, v1::Job& job) {
  for (v1::Attempt& attempt : *job.mutable_attempts()) {
    if (attempt.number() == attempt_number) return &attempt;
  }
  return nullptr;
}

void AddJob(const v1::JobSubmitted& submitted, v1::JobSpec spec, const v1::Event& event,
            ClusterState& state) {
  Require(submitted.job_id() >= state.next_job_id, "job ids must increase");
  state.next_job_id = submitted.job_id() + 1;
  state.newest_job_id = submitted.job_id();
  JobEntry& entry = state.jobs[submitted.job_id()];
  v1::Job& job = entry.job;
  job.set_id(submitted.job_id());
  job.set_name(spec.name());
  job.set_user(submitted.user());
  job.set_queue(spec.queue());
  job.set_priority(spec.priority());
  job.set_state(v1::JOB_STATE_QUEUED);
  *job.mutable_spec() = std::move(spec);
  entry.origin_list =
      submitted.origins().empty() ? submitted.origin_list() : PackOrigins(submitted.origins());
  job.set_submitted_time_ms(event.time_ms());
  entry.request_id = submitted.request_id();
  AddRelations(submitted, state);
  TakeElement(submitted, state);
  *job.mutable_after() = submitted.after();
  if (submitted.held()) Hold(event, job);
  AddWaiting(job, state);
  state.jobs_by_name[job.name()].insert(job.id());
  IndexCheckpointDirectory(job, state);
  if (!entry.request_id.empty()) state.job_by_request_id[entry.request_id] = job.id();
}

void ApplyKind(const v1::JobSubmitted& submitted, const v1::Event& event, ClusterState& state) {
  AddJob(submitted, submitted.spec(), event, state);
}

void ApplyKind(const v1::JobStopRequested& requested, const v1::Event& event, ClusterState& state) {
  JobEntry& entry = EntryOf(requested.job_id(), state);
  if (IsArray(entry.job.spec())) return TakeArrayStop(event, state);
  const v1::Attempt* live = LiveAttempt(entry);
  Require(live != nullptr, absl::StrCat("job ", requested.job_id(), " has nothing to stop"));
  entry.stop_requested = true;
  if (requested.kill()) entry.kill_requested = true;
  StopAttempt(requested.halved() ? v1::STOP_REASON_HALVED : v1::STOP_REASON_USER, event.time_ms(),
              entry, state);
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
  SettleDependents(entry.job, state);
  EndElement(entry.job, state);
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

void ApplyKind(const v1::CheckpointPublished& published, const v1::Event& event,
               ClusterState& state) {
  v1::Job& job = EntryOf(published.job_id(), state).job;
  const v1::Checkpoint& checkpoint = published.checkpoint();
  AddCheckpoint(checkpoint, job);
  v1::Attempt* attempt = FindAttempt(checkpoint.attempt(), job);
  if (attempt != nullptr) {
    attempt->set_last_step(std::max(attempt->last_step(), checkpoint.step()));
  }
  SettleByCheckpoint(job, event.time_ms(), state);
}

void ApplyKind(const v1::CheckpointDeleted& deleted, const v1::Event&, ClusterState& state) {
  RemoveCheckpoint(deleted, EntryOf(deleted.job_id(), state).job);
}

void ApplyKind(const v1::CheckpointRejected& rejected, const v1::Event&, ClusterState& state) {
  MarkDamaged(rejected, EntryOf(rejected.job_id(), state).job);
}

// Returns true for the watchdog's alerts about stalls.
bool IsStallCode(const std::string& code) {
  return code == telemetry::kStalled || code == telemetry::kFormerStalled;
}

// Alerts are history for users and do not change the state, with one exception: alerts of the loss
// guard and stall alerts of the watchdog are recorded, so that neither acts twice on a step.
void ApplyKind(const v1::AlertRaised& raised, const v1::Event&, ClusterState& state) {
  const bool stalled = raised.by_watchdog() && IsStallCode(raised.code());
  if (!raised.by_guard() && !stalled) return;
  JobEntry& entry = EntryOf(raised.job_id(), state);
  std::pair<int64_t, int64_t>& newest = raised.by_guard() ? entry.guarded : entry.watched;
  newest = std::max(newest, {raised.attempt(), raised.step()});
}

void ApplyKind(const v1::EnvironmentRecorded& recorded, const v1::Event&, ClusterState& state) {
  *EntryOf(recorded.job_id(), state).job.mutable_environment() = recorded.environment();
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

void ApplyKind(const v1::JobMoved& moved, const v1::Event&, ClusterState& state) {
  v1::Job& job = EntryOf(moved.job_id(), state).job;
  const bool waits = state.pending_jobs.Contains(QueueKeyOf(job));
  if (waits) RemoveWaiting(job, state);
  const std::pair<int, int> level = LevelOf(state, job);
  job.set_queue(moved.queue());
  job.set_priority(moved.priority());
  // A job that a user moved to a lower level goes before no other job. Slots that jobs have
  // yielded for it go to the first job in order.
  if (LevelOf(state, job) < level) job.clear_preempts();
  if (waits) AddWaiting(job, state);
}

// Applies a setting of the cluster: of a queue, a reservation of nodes, or the topology.
void ApplySetting(const v1::Event& event, ClusterState& state) {
  if (event.has_topology_set()) return ReplaceTopology(event.topology_set().topology(), state);
  if (event.has_nodes_reserved()) {
    const v1::NodeReservation& reservation = event.nodes_reserved().reservation();
    state.node_reservations[reservation.name()] = reservation;
  } else if (event.has_reservation_ended()) {
    state.node_reservations.erase(event.reservation_ended().name());
  } else if (event.has_queue_deleted()) {
    state.queues.erase(event.queue_deleted().name());
  } else {
    state.queues[event.queue_set().queue().name()] = event.queue_set().queue();
  }
}

void ApplyKind(const v1::LayoutChosen& chosen, const v1::Event&, ClusterState& state) {
  std::vector<v1::GrantedLayout>& layouts = EntryOf(chosen.job_id(), state).layouts;
  layouts.push_back(chosen.layout());
  if (layouts.size() > kLayoutsKept) layouts.erase(layouts.begin());
}

// Applies a user's request about a job. The job has not ended, except for requests about notes.
void ApplyUserRequest(const v1::Event& event, ClusterState& state) {
  if (event.has_note_written() || event.has_note_deleted()) return ApplyToNotes(event, state);
  if (event.has_job_paused()) return TakePaused(event, state);
  if (event.has_job_resumed()) return TakeResumed(event, state);
  if (event.has_job_moved()) return ApplyKind(event.job_moved(), event, state);
  if (event.has_job_extended()) return TakeExtended(event, state);
  ApplyKind(event.job_stop_requested(), event, state);
}

void ApplyToCheckpoint(const v1::Event& event, ClusterState& state) {
  if (event.has_checkpoint_published()) {
    return ApplyKind(event.checkpoint_published(), event, state);
  }
  if (event.has_checkpoint_deleted()) return ApplyKind(event.checkpoint_deleted(), event, state);
  ApplyKind(event.checkpoint_rejected(), event, state);
}

// Applies an event about the log itself: a restore, a loss, or a change of the clock.
void ApplyToHistory(const v1::Event& event, ClusterState& state) {
  if (event.has_store_restored()) return ApplyKind(event.store_restored(), event, state);
  if (event.has_events_lost()) return ApplyKind(event.events_lost(), event, state);
  if (event.has_clock_set()) {
    TakeClockSet(event.clock_set(), state);
    return UpdateRunEnds(state);
  }
  AddLoss(event, state);
}

// Applies the end of a job, or removes an ended job from the state because it was archived or
// deleted.
void ApplyEnd(const v1::Event& event, ClusterState& state) {
  if (event.has_job_ended()) return ApplyKind(event.job_ended(), event, state);
  if (event.has_job_deleted()) return ApplyKind(event.job_deleted(), event, state);
  TakeArchived(event.job_archived(), event.time_ms(), state);
}

// Applies the submission of a job, the choice of a layout for a queued job, or an event of an
// array.
void ApplyBeforePlacement(const v1::Event& event, ClusterState& state) {
  if (event.has_array_element_refused()) return TakeRefused(event.array_element_refused(), state);
  if (event.has_array_halved()) return TakeHalved(event.array_halved(), state);
  if (event.has_layout_chosen()) return ApplyKind(event.layout_chosen(), event, state);
  ApplyKind(event.job_submitted(), event, state);
}

// Applies an event about a job. Returns false for other events.
bool ChangeJob(const v1::Event& event, ClusterState& state) {
  using E = v1::Event;
  switch (event.kind_case()) {
    case E::kJobSubmitted:
    case E::kLayoutChosen:
    case E::kArrayElementRefused:
    case E::kArrayHalved:
      ApplyBeforePlacement(event, state);
      return true;
    case E::kJobPlaced:
    case E::kRankStarted:
    case E::kRankExited:
    case E::kAttemptRunning:
    case E::kAttemptBegan:
    case E::kLearningRateChanged:
    case E::kStallEnded:
    case E::kTrainingTimeLost:
    case E::kAttemptFailed:
    case E::kAttemptRolledBack:
    case E::kAttemptHealing:
    case E::kAttemptHealed:
    case E::kAttemptYielded:
    case E::kAttemptCleared:
    case E::kAttemptEnded:
    case E::kTimeLimitWarned:
    case E::kTimeLimitReached:
      ApplyToAttempt(event, state);
      return true;
    case E::kJobStopRequested:
    case E::kJobPaused:
    case E::kJobResumed:
    case E::kJobMoved:
    case E::kJobExtended:
    case E::kNoteWritten:
    case E::kNoteDeleted:
      ApplyUserRequest(event, state);
      return true;
    case E::kCheckpointPublished:
    case E::kCheckpointDeleted:
    case E::kCheckpointRejected:
      ApplyToCheckpoint(event, state);
      return true;
    case E::kAlertRaised:
      ApplyKind(event.alert_raised(), event, state);
      return true;
    // Sessions are history for users and do not change the state.
    case E::kExecOpened:
      return true;
    case E::kEnvironmentRecorded:
      ApplyKind(event.environment_recorded(), event, state);
      return true;
    case E::kJobEnded:
    case E::kJobArchived:
    case E::kJobDeleted:
      ApplyEnd(event, state);
      return true;
    default:
      return false;
  }
}

// Updates the index of the ends of live attempts after an event about a job.
void IndexRunEnd(const v1::Event& event, ClusterState& state) {
  // The most frequent event of a job. It changes no end.
  if (event.has_rank_started()) return;
  UpdateRunEnd(JobIdOf(event), state);
}

void ChangeState(const v1::Event& event, ClusterState& state) {
  using E = v1::Event;
  if (ChangeJob(event, state)) return IndexRunEnd(event, state);
  switch (event.kind_case()) {
    case E::kQueueSet:
    case E::kQueueDeleted:
    case E::kTopologySet:
    case E::kNodesReserved:
    case E::kReservationEnded:
      return ApplySetting(event, state);
    case E::kStoreRestored:
    case E::kEventsLost:
    case E::kStoreDataLost:
    case E::kClockSet:
      return ApplyToHistory(event, state);
    case E::kNodeJoined:
    case E::kNodeRemoved:
    case E::kNodeSuspected:
    case E::kNodeReturned:
    case E::kNodeLost:
    case E::kFactsReceived:
    case E::kNodeCordoned:
    case E::kNodeUncordoned:
    case E::kNodeDraining:
    case E::kNodeDrained:
    case E::kNodeUnhealthy:
    case E::kNodeHealthy:
    case E::kNodeBlamed:
    case E::kNodeReleased:
      return ApplyToNode(event, state);
    // Hand-overs are history for users and do not change the state.
    case E::kLeadershipHandedOver:
      return;
    default:
      DieOfBrokenInvariant(
          "the event log contains an event of a kind that this version does not know");
  }
}

}  // namespace

void Apply(const v1::Event& event, ClusterState& state) {
  ChangeState(event, state);
  SettleUsages(event.time_ms(), state);
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

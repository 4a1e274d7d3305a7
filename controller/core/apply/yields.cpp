#include "controller/core/apply/yields.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/elastic_yield.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/jobs/job_state_machine.h"
#include "controller/core/state/slots/slot_ledger.h"
#include "controller/core/state/slots/waiting_jobs.h"
#include "controller/core/support/invariant.h"

namespace trainyard::controller {
namespace {

// Lets the job for which another one was preempted go before the order of the queues, so that no
// other job takes the slots that become free.
void LetPrecede(int64_t job_id, ClusterState& state) {
  const auto found = state.jobs.find(job_id);
  if (found == state.jobs.end()) return;
  v1::Job& job = found->second.job;
  if (!state.pending_jobs.Contains(QueueKeyOf(job))) return;
  RemoveWaiting(job, state);
  job.set_preempts(true);
  AddWaiting(job, state);
}

// Frees the slots on the nodes that the job gives up. The job keeps the others, as after a failure.
void ContinueOnKeptNodes(JobEntry& entry, ClusterState& state) {
  v1::Job& job = entry.job;
  const v1::Attempt& ended = *NewestAttempt(entry);
  for (const std::string& node_id : GangNodes(ended)) {
    const bool gives_up = !KeepsNode(ended, node_id) && state.nodes.contains(node_id);
    if (gives_up) ReleaseSlotsOn(job.id(), ended, node_id, state);
  }
  MoveJob(v1::JOB_STATE_RECOVERING, job);
  job.set_not_before_ms(0);
  AddWaiting(job, state);
}

}  // namespace

void TakeYielded(const v1::Event& event, ClusterState& state) {
  const v1::AttemptYielded& yielded = event.attempt_yielded();
  JobEntry& entry = EntryOf(yielded.job_id(), state);
  const v1::Attempt* live = LiveAttempt(entry);
  Require(live != nullptr && live->number() == yielded.attempt(),
          absl::StrCat("job ", yielded.job_id(), " has no live attempt ", yielded.attempt()));
  v1::Attempt& attempt = *entry.job.mutable_attempts()->rbegin();
  *attempt.mutable_yield() = yielded.yield();
  StopAttempt(v1::STOP_REASON_YIELDED, event.time_ms(), entry, state);
  MoveJob(v1::JOB_STATE_PAUSING, entry.job);
  if (yielded.yield().cause() == v1::YIELD_CAUSE_PREEMPTED) {
    LetPrecede(yielded.yield().for_job_id(), state);
  }
}

void CompleteYield(JobEntry& entry, ClusterState& state) {
  v1::Job& job = entry.job;
  const v1::Attempt& ended = *NewestAttempt(entry);
  if (!ended.yield().kept_nodes().empty()) return ContinueOnKeptNodes(entry, state);
  MoveJob(v1::JOB_STATE_QUEUED, job);
  // From here on the job has no slots, so the ledger must not count the wait as a restart.
  job.set_paused_from_ms(ended.ended_time_ms());
  job.set_not_before_ms(0);
  ReleaseSlots(job.id(), ended, state);
  AddWaiting(job, state);
}

}  // namespace trainyard::controller

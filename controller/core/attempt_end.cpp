#include "controller/core/attempt_end.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/explain/log_parser_hint.h"
#include "controller/core/explain/save_hint.h"
#include "controller/core/observations/time_use.h"
#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/work_at_risk.h"
#include "controller/core/support/controller_event.h"
#include "controller/core/verdict/failure_policy.h"
#include "controller/core/verdict/time_limit_end.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/jobspec/fields/run_config_of.h"

namespace trainyard::controller {
namespace {

// Rollbacks, pauses and yields are not faults of the job. A rollback therefore has no backoff;
// guard.max_rollbacks limits the number of rollbacks. A paused job is not placed until it is
// resumed.
RestartDecision RestartOf(const JobEntry& entry, int64_t last_step, Timestamp now) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  if (attempt.stop_reason() == v1::STOP_REASON_ROLLED_BACK || IsInterrupted(attempt)) {
    return {.not_before_ms = now, .uncounted = true};
  }
  if (!HasFailed(attempt)) return {};
  return DecideRestart(entry, attempt.verdict(), last_step, now);
}

// Records the number of steps that no checkpoint contains. Does nothing for a program that has
// never reported a checkpoint, because such a program may save without reporting.
void AddUnsavedSteps(const v1::Job& job, v1::Attempt& attempt) {
  const bool reports_saves = !job.checkpoints().empty() || RunsOurTrainer(job.spec());
  if (!reports_saves) return;
  attempt.mutable_time_use()->set_unsaved_steps(
      WorkAtRiskOf(job, attempt, attempt.last_step()).steps);
}

// Records the newest losses of an element for the table of its array, which outlives the element.
void AddLosses(int64_t job_id, const Observations& observations, v1::AttemptEnded& ended) {
  const auto found = observations.progress.find(job_id);
  if (found == observations.progress.end()) return;
  const v1::Progress& progress = found->second;
  if (progress.loss_step() > 0) ended.set_loss(progress.loss());
  if (progress.validation_loss() != 0) ended.set_validation_loss(progress.validation_loss());
}

// Returns the event that ends the attempt. The event includes the attempt's last step and time use,
// because observations are not durable.
v1::AttemptEnded EndedAttempt(const Observations& observations, const JobEntry& entry,
                              Timestamp now) {
  v1::Attempt merged = *LiveAttempt(entry);
  MergeObserved(entry.job, observations, now, merged);
  for (const LostTraining& lost :
       UnrecordedLosses(entry.job.id(), observations, merged, LostPeriods::Scope::kAll)) {
    AddLostTraining(lost, *merged.mutable_time_use());
  }
  if (!GangSucceeded(entry)) AddUnsavedSteps(entry.job, merged);
  v1::AttemptEnded ended;
  ended.set_job_id(entry.job.id());
  ended.set_attempt(merged.number());
  ended.set_last_step(merged.last_step());
  if (merged.has_time_use()) *ended.mutable_time_use() = std::move(*merged.mutable_time_use());
  if (entry.job.array_id() != 0) AddLosses(entry.job.id(), observations, ended);
  return ended;
}

v1::Verdict VerdictWithoutRestart(const v1::Verdict& verdict, const RestartDecision& restart) {
  v1::Verdict last = verdict;
  if (!restart.refusal.empty()) last.mutable_summary()->append("; " + restart.refusal);
  if (restart.in_vain) last.set_restartable(false);
  return last;
}

// Returns the steps that are lost because the ranks saved no checkpoint although they should have.
// Ranks of a killed job need not save.
LostWork LostSteps(const Observations& observations, const JobEntry& entry, int64_t last_step) {
  const bool should_save = WasAskedToSave(*LiveAttempt(entry)) && !entry.kill_requested;
  return should_save ? LostByStop(observations, entry, last_step) : LostWork{};
}

v1::Verdict SuccessVerdict(const JobEntry& entry, Timestamp now) {
  const int ranks = GangSize(*LiveAttempt(entry));
  v1::Verdict verdict = CompletedVerdict(ranks, now);
  if (FirstRankLeads(entry) && ranks > 1) {
    verdict.set_summary("rank 0, which leads the other ranks, exited with 0");
  }
  return verdict;
}

v1::Verdict HalvedVerdict(const v1::Job& element, Timestamp now) {
  v1::Verdict verdict = StoppedVerdict(/*kill=*/false, now);
  verdict.set_cause(v1::VERDICT_CAUSE_HALVED);
  verdict.set_summary(absl::StrCat("stopped by the halving of array ", element.array_id(),
                                   "; `trainyard array ", element.array_id(),
                                   "` compares the elements"));
  return verdict;
}

// The decisions about the end of an attempt.
struct Ending {
  RestartDecision restart;
  TimeLimitEnd limit;
  LostWork lost;
};

// Appends what happened to the ranks, and the steps that they could not save.
void AddStopDetails(const JobEntry& entry, const LostWork& lost, v1::Verdict& verdict) {
  verdict.mutable_summary()->append(KilledText(entry));
  verdict.set_lost_steps(lost.steps);
  if (lost.steps > 0) verdict.mutable_summary()->append("; " + lost.text);
}

v1::JobEnded EndedJob(const Observations& observations, const JobEntry& entry, const Ending& ending,
                      Timestamp now) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  v1::JobEnded ended;
  ended.set_job_id(entry.job.id());
  if (ending.limit.ends_job) {
    ended.set_state(v1::JOB_STATE_STOPPED);
    *ended.mutable_verdict() = TimeLimitVerdict(entry.job, ending.limit.refusal, now);
    AddStopDetails(entry, ending.lost, *ended.mutable_verdict());
  } else if (HasFailed(attempt)) {
    ended.set_state(v1::JOB_STATE_FAILED);
    *ended.mutable_verdict() = VerdictWithoutRestart(attempt.verdict(), ending.restart);
  } else if (attempt.stop_reason() == v1::STOP_REASON_USER) {
    ended.set_state(v1::JOB_STATE_STOPPED);
    *ended.mutable_verdict() = StoppedVerdict(entry.kill_requested, now);
    AddStopDetails(entry, ending.lost, *ended.mutable_verdict());
  } else if (attempt.stop_reason() == v1::STOP_REASON_HALVED) {
    ended.set_state(v1::JOB_STATE_STOPPED);
    *ended.mutable_verdict() = HalvedVerdict(entry.job, now);
    AddStopDetails(entry, ending.lost, *ended.mutable_verdict());
  } else {
    ended.set_state(v1::JOB_STATE_SUCCEEDED);
    *ended.mutable_verdict() = SuccessVerdict(entry, now);
  }
  // A failed job may have ended before its first step, so missing steps say nothing about its log
  // parser.
  if (!HasFailed(attempt)) {
    ended.mutable_verdict()->mutable_summary()->append(NoStepFoundText(observations, entry));
  }
  return ended;
}

v1::AlertRaised UnsavedAlert(const JobEntry& entry, const v1::AttemptEnded& ended,
                             const LostWork& lost) {
  v1::AlertRaised alert;
  alert.set_job_id(ended.job_id());
  alert.set_attempt(ended.attempt());
  alert.set_step(ended.last_step());
  alert.set_code(telemetry::kPausedUnsaved);
  const bool is_pause = entry.job.has_pause();
  alert.set_message(absl::StrCat(is_pause ? "paused" : "asked to yield its slots",
                                 KilledText(entry), "; ", lost.text));
  return alert;
}

}  // namespace

std::vector<v1::Event> AttemptEndEvents(const Observations& observations, const JobEntry& entry,
                                        Timestamp now) {
  v1::AttemptEnded ended = EndedAttempt(observations, entry, now);
  Ending ending{.restart = RestartOf(entry, ended.last_step(), now),
                .lost = LostSteps(observations, entry, ended.last_step())};
  const LostWork& lost = ending.lost;
  const bool restarts = ending.restart.not_before_ms.has_value();
  ending.limit = EndAtTimeLimit(entry, ended.last_step(), restarts, now);
  const bool continues = restarts && !ending.limit.ends_job;
  if (continues) {
    ended.set_retry_not_before_ms(*ending.restart.not_before_ms);
    ended.set_uncounted(ending.restart.uncounted);
  }
  std::vector<v1::Event> events;
  *events.emplace_back(ControllerEvent(now)).mutable_attempt_ended() = ended;
  if (!continues) {
    *events.emplace_back(ControllerEvent(now)).mutable_job_ended() =
        EndedJob(observations, entry, ending, now);
    return events;
  }
  if (lost.steps > 0) {
    *events.emplace_back(ControllerEvent(now)).mutable_alert_raised() =
        UnsavedAlert(entry, ended, lost);
  }
  return events;
}

}  // namespace trainyard::controller

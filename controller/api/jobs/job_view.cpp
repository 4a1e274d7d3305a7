#include "controller/api/jobs/job_view.h"

#include <algorithm>
#include <utility>

#include "controller/core/decide/references.h"
#include "controller/core/explain/job_health.h"
#include "controller/core/explain/other_reasons.h"
#include "controller/core/explain/running_hint.h"
#include "controller/core/ledger/token_progress.h"
#include "controller/core/observations/time_use.h"
#include "controller/core/state/attempts/time_limit.h"
#include "controller/core/state/jobs/origin_list.h"
#include "proto/support/freshness.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// Removes a rate and an ETA that are out of date, for example while the job is paused.
void DropOldRate(Timestamp now, v1::Job& job) {
  if (!job.has_progress() || HasShownRate(job.state(), job.progress(), now)) return;
  job.mutable_progress()->clear_tokens_per_second();
  job.mutable_progress()->clear_eta_seconds();
  if (job.progress().has_data()) job.mutable_progress()->mutable_data()->clear_bytes_per_second();
}

bool IsDiverging(const v1::JobHealth& health) {
  return std::ranges::find(health.findings(), v1::HEALTH_WORD_DIVERGING,
                           &v1::HealthFinding::word) != health.findings().end();
}

void AddObserved(const ClusterView& view, const JobEntry& entry, v1::Job& job) {
  const auto& progress = view.observations.progress;
  if (const auto found = progress.find(job.id()); found != progress.end()) {
    *job.mutable_progress() = found->second;
    AddTokens(job.spec(), *job.mutable_progress());
  }
  if (const auto remaining_ms = RemainingTime(entry.job, view.now)) {
    job.mutable_time_limit_use()->set_remaining_ms(*remaining_ms);
  }
  DropOldRate(view.now, job);
  MergeObserved(entry.job, view.observations, view.now, job);
  v1::JobHealth health = HealthOf(view.state, view.observations, entry, view.now);
  // A diverging run is not expected to complete usefully, so it has no ETA.
  if (IsDiverging(health)) job.mutable_progress()->clear_eta_seconds();
  if (health.word() != v1::HEALTH_WORD_UNSPECIFIED) *job.mutable_health() = std::move(health);
}

}  // namespace

bool HasShownRate(v1::JobState state, const v1::Progress& progress, Timestamp now) {
  if (HasEnded(state)) return true;
  return state == v1::JOB_STATE_RUNNING &&
         IsFresh(now - progress.time_ms(), progress.step_seconds());
}

v1::Job FullJob(const JobEntry& entry, const ClusterView& view) {
  v1::Job job = entry.job;
  UnpackOrigins(entry.origin_list, job);
  AddObserved(view, entry, job);
  return job;
}

void TrimForList(v1::Job& job) {
  job.clear_origins();
  job.clear_checkpoints();
  job.clear_deleted_checkpoints();
  job.clear_earlier();
  job.clear_rollbacks();
  job.clear_notes();
  job.clear_environment();
  if (job.attempts_size() > 1) {
    job.mutable_attempts()->DeleteSubrange(0, job.attempts_size() - 1);
  }
  // Lists are sent to every open dashboard page each second. With the ranks, a list with a gang of
  // a thousand ranks would consist mostly of ranks.
  for (v1::Attempt& attempt : *job.mutable_attempts()) attempt.clear_ranks();
}

v1::Job ListedJob(const JobEntry& entry, const ClusterView& view) {
  v1::Job job = entry.job;
  TrimForList(job);
  AddObserved(view, entry, job);
  return job;
}

std::optional<v1::PendingReason> WaitingReason(const JobEntry& entry, const ClusterView& view) {
  PendingExplainer explainer(view);
  std::optional<v1::PendingReason> reason = WaitingReason(entry, view, explainer);
  if (reason.has_value()) AddOtherReasons(view, entry, *reason);
  return reason;
}

std::optional<v1::PendingReason> WaitingReason(const JobEntry& entry, const ClusterView& view,
                                               PendingExplainer& explainer) {
  v1::PendingReason reason = explainer.Why(entry);
  if (reason.code() == v1::PENDING_CODE_UNSPECIFIED ||
      reason.code() == v1::PENDING_CODE_NOT_PENDING) {
    return RunningHint(view.state, view.observations, entry, view.now);
  }
  return reason;
}

v1::Alert AlertOf(const v1::EventEntry& entry) {
  const v1::AlertRaised& raised = entry.event().alert_raised();
  v1::Alert alert;
  alert.set_sequence(entry.sequence());
  alert.set_time_ms(entry.event().time_ms());
  alert.set_attempt(raised.attempt());
  alert.set_step(raised.step());
  alert.set_code(raised.code());
  alert.set_message(raised.message());
  return alert;
}

absl::StatusOr<const JobEntry*> FindNamedJob(const ClusterView& view,
                                             const std::string& reference) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t id, FindJob(view.state, reference));
  return &view.state.jobs.at(id);
}

}  // namespace trainyard::controller

#include "controller/storage/progress_recovery.h"

#include <optional>
#include <utility>

#include "controller/core/observations/evaluated_losses.h"
#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {

std::vector<v1::Job> JobsToRecover(const ClusterState& state) {
  std::vector<v1::Job> jobs;
  int recent = kRecentJobs;
  for (auto it = state.jobs.rbegin(); it != state.jobs.rend(); ++it) {
    const auto& [id, entry] = *it;
    const bool running = LiveAttempt(entry) != nullptr;
    if (entry.job.attempts().empty() || (!running && recent-- <= 0)) continue;
    v1::Job& job = jobs.emplace_back();
    job.set_id(id);
    job.mutable_spec()->mutable_train()->set_steps(entry.job.spec().train().steps());
    *job.mutable_spec()->mutable_evaluation()->mutable_sets() =
        entry.job.spec().evaluation().sets();
    for (const v1::Attempt& attempt : entry.job.attempts()) {
      v1::Attempt& factor = *job.add_attempts();
      factor.set_number(attempt.number());
      factor.set_lr_factor(attempt.lr_factor());
    }
    if (!running) continue;
    job.mutable_spec()->mutable_train()->set_log_every_steps(
        entry.job.spec().train().log_every_steps());
    *job.mutable_spec()->mutable_guard() = entry.job.spec().guard();
  }
  return jobs;
}

namespace {

// Returns the job's stored progress and losses, or nullopt if no step of the job is stored.
absl::StatusOr<std::optional<RecoveredJob>> ReadStored(const v1::Job& job, MetricStore& metrics) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::optional<v1::Progress> progress,
                             StoredProgress(job, metrics));
  if (!progress.has_value()) return std::nullopt;
  RecoveredJob recovered{job, *progress, {}, {}};
  TRAINYARD_ASSIGN_OR_RETURN(recovered.rates, ReadStoredRates(job, metrics));
  if (job.spec().has_guard()) {
    TRAINYARD_ASSIGN_OR_RETURN(recovered.losses, ReadStoredLosses(job, metrics));
  }
  return recovered;
}

}  // namespace

void MergeRecovered(const RecoveredJob& recovered, Observations& observations) {
  v1::Progress merged = recovered.progress;
  v1::Progress& observed = observations.progress[recovered.job.id()];
  for (const v1::EvaluatedLoss& since : observed.evaluations()) {
    SetEvaluatedLoss(since.data_set(), since.step(), since.loss(), merged);
  }
  observed.clear_evaluations();
  merged.MergeFrom(observed);
  const v1::Progress& stored = recovered.progress;
  if (stored.has_best_loss() && stored.best_loss() < merged.best_loss()) {
    merged.set_best_loss(stored.best_loss());
  }
  observed = std::move(merged);
  if (!recovered.rates.rates.empty()) {
    observations.rates[recovered.job.id()].Recover(recovered.rates.attempt, recovered.rates.rates);
  }
  if (recovered.losses.losses.empty()) return;
  observations.losses[recovered.job.id()].Recover(
      recovered.job.spec().guard(), recovered.losses.attempt, recovered.losses.losses);
}

ProgressRecovery::ProgressRecovery(std::vector<v1::Job> jobs, MetricStore& metrics, Found found)
    : thread_([this, jobs = std::move(jobs), &metrics, found = std::move(found)] {
        for (const v1::Job& job : jobs) {
          if (stopping_) return;
          const auto recovered = ReadStored(job, metrics);
          if (!recovered.ok()) {
            spdlog::warn("cannot read the progress of job {}: {}", job.id(),
                         recovered.status().ToString());
          } else if (recovered->has_value()) {
            found(**recovered);
          }
        }
      }) {}

ProgressRecovery::~ProgressRecovery() {
  stopping_ = true;
  thread_.join();
}

}  // namespace trainyard::controller

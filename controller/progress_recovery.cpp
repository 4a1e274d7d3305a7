#include "controller/progress_recovery.h"

#include <utility>

#include "controller/api/stored_progress.h"
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
  }
  return jobs;
}

void MergeRecovered(int64_t job_id, const v1::Progress& recovered, Observations& observations) {
  v1::Progress merged = recovered;
  v1::Progress& observed = observations.progress[job_id];
  merged.MergeFrom(observed);
  observed = std::move(merged);
}

ProgressRecovery::ProgressRecovery(std::vector<v1::Job> jobs, MetricStore& metrics, Found found)
    : thread_([this, jobs = std::move(jobs), &metrics, found = std::move(found)] {
        for (const v1::Job& job : jobs) {
          if (stopping_) return;
          const auto progress = StoredProgress(job, metrics);
          if (!progress.ok()) {
            spdlog::warn("cannot read the progress of job {}: {}", job.id(),
                         progress.status().ToString());
          } else if (progress->has_value()) {
            found(job.id(), **progress);
          }
        }
      }) {}

ProgressRecovery::~ProgressRecovery() {
  stopping_ = true;
  thread_.join();
}

}  // namespace trainyard::controller

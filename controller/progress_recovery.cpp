#include "controller/progress_recovery.h"

#include "controller/api/stored_progress.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

// Ended jobs looked up at a start, newest first; each takes a few milliseconds.
constexpr int kRecentJobs = 50;

}  // namespace

void RecoverProgress(const ClusterState& state, MetricStore& metrics, Observations& observations) {
  int recent = kRecentJobs;
  for (auto it = state.jobs.rbegin(); it != state.jobs.rend(); ++it) {
    const auto& [id, entry] = *it;
    const bool running = LiveAttempt(entry) != nullptr;
    if (entry.job.attempts().empty() || (!running && recent-- <= 0)) continue;
    const auto progress = StoredProgress(entry.job, metrics);
    if (!progress.ok()) {
      spdlog::warn("cannot read the progress of job {}: {}", id, progress.status().ToString());
    } else if (progress->has_value()) {
      observations.progress[id] = **progress;
    }
  }
}

}  // namespace trainyard::controller

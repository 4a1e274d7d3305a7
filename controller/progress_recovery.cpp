#include "controller/progress_recovery.h"

#include <algorithm>
#include <optional>

#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

// Ended jobs looked up at a start, newest first; each takes a few milliseconds.
constexpr int kRecentJobs = 50;

void SetField(const v1::Series& series, v1::Progress& progress) {
  if (series.steps().empty()) return;
  const double value = series.last(series.last_size() - 1);
  const int64_t time_ms = series.times_ms(series.times_ms_size() - 1);
  if (series.key() == "val_loss") {
    progress.set_validation_loss(value);
    return;
  }
  if (series.key() == "loss") progress.set_loss(value);
  if (series.key() == "tokens_per_second") progress.set_tokens_per_second(value);
  if (series.key() == "step_seconds") progress.set_step_seconds(value);
  progress.set_step(std::max(progress.step(), series.steps(series.steps_size() - 1)));
  progress.set_time_ms(std::max(progress.time_ms(), time_ms));
}

std::optional<v1::Progress> ReadProgress(const v1::Job& job, MetricStore& metrics) {
  SeriesQuery query;
  query.job_id = job.id();
  query.keys = {"loss", "tokens_per_second", "step_seconds", "val_loss"};
  // One bucket: its last value is the newest.
  query.buckets = 1;
  const auto series = metrics.Read(query);
  if (!series.ok()) {
    spdlog::warn("cannot read the progress of job {}: {}", job.id(), series.status().ToString());
    return std::nullopt;
  }
  v1::Progress progress;
  for (const v1::Series& one : *series) SetField(one, progress);
  if (progress.step() == 0) return std::nullopt;
  progress.set_total_steps(job.spec().train().steps());
  return progress;
}

}  // namespace

void RecoverProgress(const ClusterState& state, MetricStore& metrics, Observations& observations) {
  int recent = kRecentJobs;
  for (auto it = state.jobs.rbegin(); it != state.jobs.rend(); ++it) {
    const auto& [id, entry] = *it;
    const bool running = LiveAttempt(entry) != nullptr;
    if (entry.job.attempts().empty() || (!running && recent-- <= 0)) continue;
    if (const auto progress = ReadProgress(entry.job, metrics))
      observations.progress[id] = *progress;
  }
}

}  // namespace trainyard::controller

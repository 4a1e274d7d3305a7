#include "controller/api/stored_progress.h"

#include <algorithm>
#include <cmath>

#include "proto/contract/telemetry_keys.h"
#include "proto/contract/token_format.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

std::string ValidationLoss() { return telemetry::EvaluationLoss(token_format::kValidationSplit); }

// Buckets whose losses are not finite have no best loss.
void SetBestLoss(const v1::Series& losses, v1::Progress& progress) {
  for (const double least : losses.min()) {
    if (!std::isfinite(least)) continue;
    progress.set_best_loss(progress.has_best_loss() ? std::min(progress.best_loss(), least)
                                                    : least);
  }
}

void SetField(const v1::Series& series, v1::Progress& progress) {
  if (series.steps().empty()) return;
  const double value = series.last(series.last_size() - 1);
  const int64_t time_ms = series.times_ms(series.times_ms_size() - 1);
  if (series.key() == ValidationLoss()) {
    progress.set_validation_loss(value);
    return;
  }
  if (series.key() == telemetry::kLoss) {
    progress.set_loss(value);
    progress.set_loss_step(series.steps(series.steps_size() - 1));
    SetBestLoss(series, progress);
  }
  if (series.key() == telemetry::kTokensPerSecond) progress.set_tokens_per_second(value);
  if (series.key() == telemetry::kStepSeconds) progress.set_step_seconds(value);
  progress.set_step(std::max(progress.step(), series.steps(series.steps_size() - 1)));
  progress.set_time_ms(std::max(progress.time_ms(), time_ms));
}

}  // namespace

absl::StatusOr<std::optional<v1::Progress>> StoredProgress(const v1::Job& job,
                                                           MetricStore& metrics) {
  SeriesQuery query;
  query.job_id = job.id();
  query.keys = {telemetry::kLoss, telemetry::kTokensPerSecond, telemetry::kStepSeconds,
                ValidationLoss()};
  // The last value of a single bucket is the newest value of the series.
  query.buckets = 1;
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<v1::Series> series, metrics.Read(query));
  v1::Progress progress;
  for (const v1::Series& one : series) SetField(one, progress);
  if (progress.step() == 0) return std::nullopt;
  progress.set_total_steps(job.spec().train().steps());
  return progress;
}

absl::StatusOr<StoredLosses> ReadStoredLosses(const v1::Job& job, MetricStore& metrics) {
  StoredLosses stored;
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<AttemptRange> attempts, metrics.Attempts(job.id()));
  if (attempts.empty()) return stored;
  stored.attempt = attempts.back().number;
  SeriesQuery query;
  query.job_id = job.id();
  query.keys = {telemetry::kLoss};
  query.buckets = 1;
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<v1::Series> newest, metrics.Read(query));
  if (newest.empty() || newest[0].steps().empty()) return stored;
  const int64_t steps_apart = std::max<int64_t>(job.spec().train().log_every_steps(), 1);
  const int64_t window = std::max<int64_t>(job.spec().guard().window(), 1);
  query.buckets = 0;
  query.from_step =
      std::max<int64_t>(0, newest[0].steps(newest[0].steps_size() - 1) - window * steps_apart + 1);
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<v1::Series> series, metrics.Read(query));
  for (const v1::Series& part : series) {
    if (part.abandoned()) continue;
    for (int i = 0; i < part.steps_size(); ++i) {
      stored.losses.emplace_back(part.steps(i), part.last(i));
    }
  }
  return stored;
}

}  // namespace trainyard::controller

#include "controller/api/jobs/stored_progress.h"

#include <algorithm>
#include <cmath>

#include "controller/core/observations/evaluated_losses.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/contract/token_format.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// Returns the names of the sets that the spec evaluates; "val" if the spec names no set.
std::vector<std::string> EvaluationSets(const v1::JobSpec& spec) {
  std::vector<std::string> names;
  for (const std::string& set : spec.evaluation().sets()) {
    names.push_back(set.substr(0, set.find(' ')));
  }
  if (names.empty()) names.emplace_back(token_format::kValidationSplit);
  return names;
}

// Sets the lowest loss of all buckets. Ignores buckets whose losses are not finite.
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

double FactorOf(const v1::Job& job, int64_t number) {
  const auto attempt =
      std::ranges::find(job.attempts(), number, [](const auto& one) { return one.number(); });
  const bool is_set = attempt != job.attempts().end() && attempt->lr_factor() > 0;
  return is_set ? attempt->lr_factor() : 1;
}

}  // namespace

absl::StatusOr<std::optional<v1::Progress>> StoredProgress(const v1::Job& job,
                                                           MetricStore& metrics) {
  SeriesQuery query;
  query.job_id = job.id();
  query.keys = {telemetry::kLoss, telemetry::kTokensPerSecond, telemetry::kStepSeconds};
  const std::size_t evaluations = query.keys.size();
  const std::vector<std::string> sets = EvaluationSets(job.spec());
  for (const std::string& set : sets) query.keys.push_back(telemetry::EvaluationLoss(set));
  // The last value of a single bucket is the newest value of the series.
  query.buckets = 1;
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<v1::Series> series, metrics.Read(query));
  v1::Progress progress;
  for (std::size_t i = 0; i < evaluations; ++i) SetField(series[i], progress);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const v1::Series& one = series[evaluations + i];
    if (one.steps().empty()) continue;
    SetEvaluatedLoss(sets[i], *one.steps().rbegin(), *one.last().rbegin(), progress);
  }
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
    if (part.redone()) continue;
    for (int i = 0; i < part.steps_size(); ++i) {
      stored.losses.emplace_back(part.steps(i), part.last(i));
    }
  }
  return stored;
}

absl::StatusOr<StoredRates> ReadStoredRates(const v1::Job& job, MetricStore& metrics) {
  StoredRates stored;
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<AttemptRange> attempts, metrics.Attempts(job.id()));
  if (attempts.empty()) return stored;
  stored.attempt = attempts.back().number;
  SeriesQuery query;
  query.job_id = job.id();
  query.keys = {telemetry::kLearningRate};
  query.buckets = static_cast<int>(RateCurve::kMaxPoints);
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<v1::Series> series, metrics.Read(query));
  for (const v1::Series& part : series) {
    if (part.redone()) continue;
    for (int i = 0; i < part.steps_size(); ++i) {
      if (!std::isfinite(part.last(i))) continue;
      stored.rates.Add({part.steps(i), part.last(i), FactorOf(job, part.attempts(i))});
    }
  }
  return stored;
}

}  // namespace trainyard::controller

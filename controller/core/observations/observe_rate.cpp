#include "controller/core/observations/observe_rate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "proto/contract/telemetry_keys.h"

namespace trainyard::controller {
namespace {

bool Saved(const v1::Job& job, const std::string& path) {
  return std::ranges::any_of(job.checkpoints(), [&](const v1::Checkpoint& checkpoint) {
    return checkpoint.path() == path;
  });
}

// Adopts the rates of the job that saved the attempt's checkpoint. No effect if the state does not
// contain that job.
void ContinueOther(const v1::Attempt& attempt, const ClusterState& state,
                   const std::map<int64_t, RateWatch>& rates, RateWatch& watch) {
  if (attempt.resume_from().empty() || attempt.resume_attempt() != 0) return;
  for (const auto& [id, other] : rates) {
    const JobEntry* entry = FindEntry(state, id);
    if (entry == nullptr || !Saved(entry->job, attempt.resume_from())) continue;
    return watch.ContinueFrom(other);
  }
}

}  // namespace

void ObserveRate(const v1::MetricsRecord& metrics, const AttemptKey& key, const ClusterState& state,
                 Observations& observations) {
  const auto rate = metrics.values().find(telemetry::kLearningRate);
  const JobEntry* entry = FindEntry(state, key.job_id);
  // Ignore rates that are not finite. Such rates would leave the watch empty, so every record would
  // search the checkpoints of other jobs again.
  if (rate == metrics.values().end() || !std::isfinite(rate->second) || entry == nullptr) return;
  const v1::Attempt* attempt = FindAttempt(entry->job, key.number);
  if (attempt == nullptr) return;
  RateWatch& watch = observations.rates[key.job_id];
  if (watch.empty()) ContinueOther(*attempt, state, observations.rates, watch);
  const RateSource source{.attempt = key.number,
                          .resume_step = attempt->resume_step(),
                          .factor = attempt->lr_factor() > 0 ? attempt->lr_factor() : 1};
  const std::optional<RateChange> change = watch.Add(source, metrics.step(), rate->second);
  if (change.has_value()) observations.attempts[key].rate_change = change;
}

}  // namespace trainyard::controller

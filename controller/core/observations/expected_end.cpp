#include "controller/core/observations/expected_end.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "controller/core/ledger/token_progress.h"
#include "controller/core/state/jobs/run_end.h"
#include "proto/support/job_kind.h"

namespace trainyard::controller {
namespace {

// Predictions are cut at ten years, so that their milliseconds fit into a Timestamp. Reported step
// times and step numbers are untrusted input.
constexpr double kLongestSeconds = 10 * 365 * 86400.0;

// Returns the seconds from the newest metrics to the end of the last step. Returns nullopt if they
// are unknown.
std::optional<double> SecondsLeft(const v1::Job& job, const AttemptObservation& observed,
                                  const v1::Progress& progress) {
  if (!ProgramRulesOf(job.spec()).has_equal_steps) {
    if (progress.eta_seconds() > 0) return progress.eta_seconds();
    return std::nullopt;
  }
  const int64_t total = TotalSteps(observed, job);
  const double pace = observed.step_times.Pace();
  if (total == 0 || pace == 0 || observed.metrics_step == 0) return std::nullopt;
  v1::Progress rest;
  rest.set_step(observed.metrics_step);
  rest.set_total_steps(total);
  const int64_t steps_left = std::max<int64_t>(0, total - observed.metrics_step);
  rest.set_eta_seconds(static_cast<double>(steps_left) * pace);
  AddTokens(job.spec(), rest);
  return rest.eta_seconds();
}

}  // namespace

Timestamp EndOfSteps(const v1::Job& job, const v1::Attempt& attempt,
                     const AttemptObservation& observed, const v1::Progress& progress) {
  const Timestamp newest_ms = progress.time_ms();
  if (newest_ms < attempt.placed_time_ms()) return 0;
  const auto seconds = SecondsLeft(job, observed, progress);
  if (!seconds.has_value() || !std::isfinite(*seconds)) return 0;
  return newest_ms + static_cast<int64_t>(std::clamp(*seconds, 0.0, kLongestSeconds) * 1000);
}

std::optional<Timestamp> ExpectedEnd(const JobEntry& entry, const Observations& observations,
                                     Timestamp now) {
  if (LiveAttempt(entry) == nullptr) return std::nullopt;
  const RunEnd run = RunEndOf(entry);
  const AttemptObservation* observed = ObservedAttempt(observations, {entry.job.id(), run.attempt});
  const Timestamp end = EarlierEnd(run, observed == nullptr ? 0 : observed->steps_end_ms);
  return end == 0 ? std::nullopt : std::optional(std::max(now, end));
}

}  // namespace trainyard::controller

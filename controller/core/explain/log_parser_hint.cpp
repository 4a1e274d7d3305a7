#include "controller/core/explain/log_parser_hint.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "controller/core/support/text.h"
#include "proto/json/enum_text.h"

namespace trainyard::controller {
namespace {

constexpr char kTelemetryAdvice[] =
    "correct the program: each line of telemetry must be a JSON object with the field `type`; the "
    "field `time_ms` is optional and must be a number; the worker's README describes all fields";

// Returns a rank that has written `least` or more lines of output in which the log parser found no
// step. Returns -1 if there is no such rank.
int UnmatchedRank(const AttemptObservation& attempt, int64_t least) {
  const auto found = std::ranges::find_if(
      attempt.ranks, [=](const auto& entry) { return entry.second.unmatched_lines >= least; });
  return found == attempt.ranks.end() ? -1 : found->first;
}

// Returns nullptr if the newest attempt has sent metrics, or if no worker reports it.
const AttemptObservation* AttemptWithoutMetrics(const Observations& observations,
                                                const JobEntry& entry) {
  const v1::Attempt* attempt = NewestAttempt(entry);
  if (attempt == nullptr) return nullptr;
  const AttemptObservation* observed =
      ObservedAttempt(observations, {entry.job.id(), attempt->number()});
  const bool has_metrics = observed != nullptr && observed->reporting_rank != kNoReportingRank;
  return has_metrics ? nullptr : observed;
}

v1::PendingReason BadTelemetryReason(const BadTelemetry& bad) {
  v1::PendingReason reason;
  reason.set_code(v1::PENDING_CODE_NO_METRICS);
  reason.set_message(absl::StrCat("the telemetry of rank ", bad.rank,
                                  " cannot be read, so there are no metrics: ", bad.first));
  reason.set_advice(kTelemetryAdvice);
  return reason;
}

}  // namespace

std::optional<v1::PendingReason> WhyNoMetrics(const Observations& observations,
                                              const JobEntry& entry) {
  if (entry.job.state() != v1::JOB_STATE_RUNNING) return std::nullopt;
  // The program may send telemetry in addition to its output.
  const AttemptObservation* observed = AttemptWithoutMetrics(observations, entry);
  if (observed == nullptr) return std::nullopt;
  if (observed->bad_telemetry.lines > 0) return BadTelemetryReason(observed->bad_telemetry);
  const int rank = UnmatchedRank(*observed, kManyUnmatchedLines);
  if (rank < 0) return std::nullopt;
  v1::PendingReason reason;
  reason.set_code(v1::PENDING_CODE_NO_METRICS);
  // The message does not contain the number of lines, because with the number the reason would
  // change every second.
  reason.set_message(absl::StrCat("log_parser ", EnumText(entry.job.spec().log_parser().kind()),
                                  " has found no step in ", kManyUnmatchedLines,
                                  " or more lines of the output of rank ", rank,
                                  ", so there are no metrics"));
  reason.set_advice(
      absl::StrCat("`trainyard logs ", entry.job.id(), " --rank ", rank,
                   " --tail 20` shows what this rank prints; submit with log_parser.rank set to a "
                   "rank that prints the loss, or with another "
                   "log_parser.kind or pattern"));
  return reason;
}

std::string NoStepFoundText(const Observations& observations, const JobEntry& entry) {
  const AttemptObservation* observed = AttemptWithoutMetrics(observations, entry);
  const int rank = observed == nullptr ? -1 : UnmatchedRank(*observed, 1);
  if (rank < 0) return "";
  return absl::StrCat("; log_parser ", EnumText(entry.job.spec().log_parser().kind()),
                      " found no step in ",
                      Counted(observed->ranks.at(rank).unmatched_lines, "line"),
                      " of the output of rank ", rank, ", so there are no metrics");
}

std::optional<planner::Finding> BadTelemetryFinding(const Observations& observations,
                                                    const JobEntry& entry) {
  const v1::Attempt* attempt = NewestAttempt(entry);
  if (attempt == nullptr) return std::nullopt;
  const AttemptObservation* observed =
      ObservedAttempt(observations, {entry.job.id(), attempt->number()});
  if (observed == nullptr || observed->bad_telemetry.lines == 0) return std::nullopt;
  const BadTelemetry& bad = observed->bad_telemetry;
  return planner::Finding{
      .what = absl::StrCat(Counted(bad.lines, "line"), " of telemetry could not be read"),
      .why = absl::StrCat("the first one, of rank ", bad.rank, ": ", bad.first),
      .right = kTelemetryAdvice};
}

}  // namespace trainyard::controller

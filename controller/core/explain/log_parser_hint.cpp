#include "controller/core/explain/log_parser_hint.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/json/enum_text.h"

namespace trainyard::controller {
namespace {

// Returns a rank that has written at least kManyUnmatchedLines lines of output without a step that
// the log parser found. Returns -1 if there is no such rank.
int UnmatchedRank(const AttemptObservation& attempt) {
  const auto found = std::ranges::find_if(attempt.ranks, [](const auto& entry) {
    return entry.second.unmatched_lines >= kManyUnmatchedLines;
  });
  return found == attempt.ranks.end() ? -1 : found->first;
}

}  // namespace

std::optional<v1::PendingReason> WhyNoMetrics(const Observations& observations,
                                              const JobEntry& entry) {
  const v1::Attempt* attempt = LiveAttempt(entry);
  if (entry.job.state() != v1::JOB_STATE_RUNNING || attempt == nullptr) return std::nullopt;
  const auto observed = observations.attempts.find({entry.job.id(), attempt->number()});
  if (observed == observations.attempts.end()) return std::nullopt;
  // The program may send telemetry in addition to its output.
  if (observed->second.reporting_rank != kNoReportingRank) return std::nullopt;
  const int rank = UnmatchedRank(observed->second);
  if (rank < 0) return std::nullopt;
  v1::PendingReason reason;
  reason.set_code(v1::PENDING_CODE_NO_METRICS);
  // The message does not contain the number of lines, because the reason would then change every
  // second.
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

}  // namespace trainyard::controller

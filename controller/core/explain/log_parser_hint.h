// Explains why a job has no metrics: its log parser finds no step in the output, or its telemetry
// cannot be read.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_LOG_PARSER_HINT_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_LOG_PARSER_HINT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/planner/finding.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// This exceeds the number of lines that programs usually print before their first step.
inline constexpr int64_t kManyUnmatchedLines = 1000;

// Returns the reason with the code NO_METRICS and, as advice, the next step. Returns nullopt if the
// job is not running, has neither a log parser nor bad telemetry, or has sent metrics in this
// attempt.
std::optional<v1::PendingReason> WhyNoMetrics(const Observations& observations,
                                              const JobEntry& entry);

// Returns, for example, "; log_parser nanogpt found no step in 12 lines of the output of rank 0, so
// there are no metrics". Empty if the live attempt has metrics, no log parser, or no output.
std::string NoStepFoundText(const Observations& observations, const JobEntry& entry);

// Returns a finding about the unreadable telemetry lines of the newest attempt: their number and
// the first line. Returns nullopt if all lines could be read.
std::optional<planner::Finding> BadTelemetryFinding(const Observations& observations,
                                                    const JobEntry& entry);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_LOG_PARSER_HINT_H_

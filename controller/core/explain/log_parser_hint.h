// Explains why a running job has no metrics: its log parser finds no step in the output.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_LOG_PARSER_HINT_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_LOG_PARSER_HINT_H_

#include <cstdint>
#include <optional>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// More lines than programs usually print before their first step.
inline constexpr int64_t kManyUnmatchedLines = 1000;

// Returns the reason with the code NO_METRICS and, as advice, the next step. Returns nullopt if the
// job is not running, has no log parser, or has sent metrics in this attempt.
std::optional<v1::PendingReason> WhyNoMetrics(const Observations& observations,
                                              const JobEntry& entry);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_LOG_PARSER_HINT_H_

// Formats the times that were promised to a waiting job.
#ifndef TRAINYARD_CLI_OUTPUT_CLUSTER_PROMISE_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_CLUSTER_PROMISE_VIEW_H_

#include <string>
#include <vector>

#include "proto/support/clock.h"
#include "trainyard/v1/pending_reason.pb.h"

namespace trainyard::cli {

// Returns a line for each promise, oldest first, such as "3m12s ago: slots in 16m0s; job 12 (big)
// is expected to end later".
std::vector<std::string> PromiseLines(const v1::PendingReason& reason, Timestamp now);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_CLUSTER_PROMISE_VIEW_H_

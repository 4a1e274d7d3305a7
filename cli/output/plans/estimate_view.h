// Formats the estimated start of a waiting job.
#ifndef TRAINYARD_CLI_OUTPUT_PLANS_ESTIMATE_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_PLANS_ESTIMATE_VIEW_H_

#include <string>

#include "proto/support/clock.h"
#include "trainyard/v1/pending_reason.pb.h"

namespace trainyard::cli {

// Returns a line such as "starts in about 2h0m (1h0m to 3h0m)". Empty if the start is unknown.
std::string EstimateLine(const v1::PendingReason& reason, Timestamp now);

// Returns a short form such as "~2h0m", "<2h0m" if only a latest time is known, or "-".
std::string EstimateCell(const v1::PendingReason& reason, Timestamp now);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_PLANS_ESTIMATE_VIEW_H_

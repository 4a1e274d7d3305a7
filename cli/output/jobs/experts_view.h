// Formats the balance of a job's experts.
#ifndef TRAINYARD_CLI_OUTPUT_JOBS_EXPERTS_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_JOBS_EXPERTS_VIEW_H_

#include <string>

#include "cli/output/terminal/table.h"
#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::cli {

// Returns a sentence about the step and its worst layer.
std::string BalanceText(const v1::ExpertBalance& balance);

// Returns one row per layer.
Listing BalanceListing(const v1::ExpertBalance& balance);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_JOBS_EXPERTS_VIEW_H_

// Shows the table of results of an array.
#ifndef TRAINYARD_CLI_OUTPUT_JOBS_ARRAY_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_JOBS_ARRAY_VIEW_H_

#include <string>

#include "cli/output/terminal/table.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::cli {

// One row per element, with one column per setting of the matrix.
Listing ArrayListing(const v1::GetArrayResponse& response);

// Returns, for example, "array 17 sweep: 100 elements, 12 are jobs now, 40 have ended (2 failed),
// 48 have not started".
std::string ArraySummary(const v1::GetArrayResponse& response);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_JOBS_ARRAY_VIEW_H_

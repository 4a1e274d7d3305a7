// The time ledger of many jobs as a table.
#ifndef TRAINYARD_CLI_OUTPUT_JOBS_REPORT_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_JOBS_REPORT_VIEW_H_

#include "cli/output/terminal/table.h"
#include "trainyard/v1/report_service.pb.h"

namespace trainyard::cli {

// Returns one row per group, then a row for all remaining groups and a row for the total. Tables
// show each phase as a fraction of the slot time. -o csv shows slot-seconds, and the seconds in the
// queue. The column with costs is missing if the controller has no price.
Listing ReportListing(const v1::GetReportResponse& response);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_JOBS_REPORT_VIEW_H_

// The ledger across jobs as a table.
#ifndef TRAINYARD_CLI_OUTPUT_REPORT_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_REPORT_VIEW_H_

#include "cli/output/table.h"
#include "trainyard/v1/report_service.pb.h"

namespace trainyard::cli {

// One row per group, followed by a row for the other groups and a row for the sum. Tables show each
// phase as a fraction of the slot time; -o csv shows slot-seconds, and seconds in the queue.
Listing ReportListing(const v1::GetReportResponse& response);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_REPORT_VIEW_H_

// The ledger across jobs as a table.
#ifndef TRAINYARD_CLI_OUTPUT_REPORT_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_REPORT_VIEW_H_

#include "cli/output/table.h"
#include "trainyard/v1/report_service.pb.h"

namespace trainyard::cli {

// A row for each group, and the last ones for the rest and the sum. Tables show each phase as a
// part of the slot time, programs (-o csv) get slot-seconds, and seconds of the queue.
Listing ReportListing(const v1::GetReportResponse& response);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_REPORT_VIEW_H_

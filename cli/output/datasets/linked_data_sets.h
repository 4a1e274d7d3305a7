// Lists the data sets of a job, with the jobs that make and read them.
#ifndef TRAINYARD_CLI_OUTPUT_DATASETS_LINKED_DATA_SETS_H_
#define TRAINYARD_CLI_OUTPUT_DATASETS_LINKED_DATA_SETS_H_

#include <string>

#include "cli/output/terminal/table.h"
#include "nlohmann/json.hpp"
#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::cli {

// Returns one row per data set. The last column names the jobs that made the data set of a training
// job, or the jobs that train on the data set of a data job.
Listing DataSetListing(const v1::GetDataReportResponse& response);

// Returns one line per job that trains on a data set of a data job, such as
// "read by: job 18 llama, as /out/tokenize\n".
std::string ReaderLines(const v1::GetDataReportResponse& response);

// Returns the jobs of all data sets for -o json.
nlohmann::json LinkedJobsJson(const v1::GetDataReportResponse& response);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_DATASETS_LINKED_DATA_SETS_H_

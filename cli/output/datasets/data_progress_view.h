// Texts about the progress of data jobs.
#ifndef TRAINYARD_CLI_OUTPUT_DATASETS_DATA_PROGRESS_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_DATASETS_DATA_PROGRESS_VIEW_H_

#include <string>
#include <utility>
#include <vector>

#include "trainyard/v1/job.pb.h"

namespace trainyard::cli {

// Returns the step of a job, such as "40/100", or of a data job, such as "merge 40/100" with the
// phase of rank 0. kNothing if it is unknown.
std::string ProgressStepText(const v1::Progress& progress);

// Returns the rate of a job: in tokens, such as "5.23k", or of a data job, such as "80.0 MB/s".
// kNothing if it is unknown.
std::string ProgressRateText(const v1::Progress& progress);

// Returns the progress of a data job as one line, such as "step 2/5  4.7 GiB  120k documents".
// Parts that are unknown are left out.
std::string DataProgressText(const v1::Progress& progress);

// Returns the result of an ended data job as one line, such as "120k documents read, 100k
// kept  1.5B tokens". If the documents of the first step are unknown, the line is DataProgressText.
std::string DataResultText(const v1::Progress& progress);

// Returns text such as "block 17 for 45s on rank 1"; "" if no block is in work.
std::string SlowestBlockText(const v1::Progress& progress);

// Returns labels and values about the progress of a data job. Values that are unknown are empty.
std::vector<std::pair<std::string, std::string>> DataProgressLines(const v1::Progress& progress);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_DATASETS_DATA_PROGRESS_VIEW_H_

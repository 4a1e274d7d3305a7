// Shows the software with which a job runs.
#ifndef TRAINYARD_CLI_OUTPUT_JOBS_ENVIRONMENT_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_JOBS_ENVIRONMENT_VIEW_H_

#include <string>

#include "trainyard/v1/environment.pb.h"

namespace trainyard::cli {

// Returns the software in one line, such as "Python 3.11.2, 52 packages, CUDA 12.4".
std::string EnvironmentSummary(const v1::EnvironmentRecord& record);

// Returns labeled lines with the software and all packages; empty if nothing is recorded.
std::string EnvironmentText(const v1::EnvironmentRecord& record);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_JOBS_ENVIRONMENT_VIEW_H_

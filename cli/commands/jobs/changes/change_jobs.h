// Runs commands that change several jobs, one job after another.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_CHANGE_JOBS_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_CHANGE_JOBS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/context/context.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::cli {

// Parses all references before the caller sends any request, so that nothing changes if a reference
// is mistyped.
absl::StatusOr<std::vector<std::string>> ParseWholeJobs(const std::vector<std::string>& texts);

// Calls `request` for each job and prints the errors. After an error, continues with the next job,
// unless the controller is unreachable. The first error determines the exit code.
ExitCode ForEachJob(const std::vector<std::string>& jobs,
                    const std::function<absl::Status(const std::string& job)>& request,
                    Context& context);

// Calls `change` for each job and prints the changed job that `change` returns. Handles errors like
// ForEachJob.
Outcome ChangeJobs(const std::vector<std::string>& jobs,
                   const std::function<absl::StatusOr<v1::Job>(const std::string& job)>& change,
                   Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_CHANGE_JOBS_H_

// Commands that change one job after the other.
#ifndef TRAINYARD_CLI_COMMANDS_CHANGE_JOBS_H_
#define TRAINYARD_CLI_COMMANDS_CHANGE_JOBS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/commands/commands.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::cli {

// All references, parsed before the first request: a mistyped one changes nothing.
absl::StatusOr<std::vector<std::string>> ParseWholeJobs(const std::vector<std::string>& texts);

// Calls `tell` for each job and prints its errors. After an error the other jobs are still tried,
// unless the controller is unreachable. The first error decides the exit code.
ExitCode ForEachJob(const std::vector<std::string>& jobs,
                    const std::function<absl::Status(const std::string& job)>& tell,
                    Context& context);

// The same, where `change` returns the job as it is then, which is printed.
Outcome ChangeJobs(const std::vector<std::string>& jobs,
                   const std::function<absl::StatusOr<v1::Job>(const std::string& job)>& change,
                   Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_CHANGE_JOBS_H_

// The job file and options that `submit` and `plan` share, resolved to one spec.
#ifndef TRAINYARD_CLI_COMMANDS_JOB_FILE_H_
#define TRAINYARD_CLI_COMMANDS_JOB_FILE_H_

#include "cli/commands/commands.h"
#include "proto/jobspec/loader.h"

namespace trainyard::cli {

// Reads the job file or recipe and applies --set, --name and the command after `--`. Defined in
// plan.cpp. INVALID_ARGUMENT with all errors, also when there is no such file: whatever the cause,
// the command exits as for wrong usage.
absl::StatusOr<ResolvedSpec> ResolveOptions(const JobFileOptions& options, const Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOB_FILE_H_

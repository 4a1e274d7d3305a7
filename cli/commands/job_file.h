// Job file and options of `submit` and `plan`, resolved to one spec.
#ifndef TRAINYARD_CLI_COMMANDS_JOB_FILE_H_
#define TRAINYARD_CLI_COMMANDS_JOB_FILE_H_

#include "cli/commands/commands.h"
#include "proto/jobspec/loader.h"

namespace trainyard::cli {

// Reads the job file or recipe and applies --set, --name and the command after `--`. Defined in
// plan.cpp. INVALID_ARGUMENT with all errors, even for a missing file, so that the command always
// exits as for wrong usage.
absl::StatusOr<ResolvedSpec> ResolveOptions(const JobFileOptions& options, const Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOB_FILE_H_

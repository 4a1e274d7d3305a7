// A job file of the command line, resolved.
#ifndef TRAINYARD_CLI_COMMANDS_JOB_FILE_H_
#define TRAINYARD_CLI_COMMANDS_JOB_FILE_H_

#include "cli/commands/commands.h"
#include "proto/jobspec/loader.h"

namespace trainyard::cli {

// Reads the file or recipe with its --set, --name and command. INVALID_ARGUMENT with all errors,
// also when there is no such file: the command line is wrong.
absl::StatusOr<ResolvedSpec> ResolveOptions(const JobFileOptions& options, const Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOB_FILE_H_

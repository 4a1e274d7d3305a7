// The commands for jobs, at the top level and under the noun `job`.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_JOB_COMMANDS_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_JOB_COMMANDS_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

void AddJobCommands(CLI::App& app, Grammar& grammar);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_JOB_COMMANDS_H_

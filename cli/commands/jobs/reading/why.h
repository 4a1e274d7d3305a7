// `trainyard why`: explains why a job is waiting, or why it ended.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_READING_WHY_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_READING_WHY_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Adds the command and its options.
void AddWhy(CLI::App& parent, Grammar& grammar);

Outcome RunWhy(const std::string& job, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_READING_WHY_H_

// `trainyard exec` and `trainyard shell`: run a command beside a rank, in the rank's environment.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_EXEC_EXEC_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_EXEC_EXEC_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct ExecOptions {
  std::string target;  // JOB or JOB.RANK.
  std::optional<int> rank;
  std::vector<std::string> command;  // Empty: an interactive shell.
  bool terminal = false;
  bool without_input = false;
};

// Add the commands and their options.
void AddExec(CLI::App& parent, Grammar& grammar);
void AddShell(CLI::App& parent, Grammar& grammar);

Outcome RunExec(const ExecOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_EXEC_EXEC_H_

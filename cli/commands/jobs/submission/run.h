// `trainyard run`: runs a command as a job, prints its output and returns its exit code.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_SUBMISSION_RUN_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_SUBMISSION_RUN_H_

#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct RunOptions {
  std::vector<std::string> command;
  std::vector<std::string> sets;
  std::string name;    // Empty: derived from the command.
  std::string device;  // Empty: the default of job files.
  int nodes = 1;
  int slots_per_node = 1;
  // True: Ctrl-C and SIGTERM stop the job. False: they only end this command.
  bool stops = false;
};

// Adds the command and its options.
void AddRun(CLI::App& parent, Grammar& grammar);

Outcome RunRun(const RunOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_SUBMISSION_RUN_H_

// `trainyard ps`, also `job list`: lists jobs.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_READING_PS_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_READING_PS_H_

#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct PsOptions {
  bool all = false;
  std::string user;
  std::vector<std::string> states;
  int limit = 100;
};

// Makes `command` list jobs: adds the options and the runner.
void MakeJobList(CLI::App& command, Grammar& grammar);

Outcome RunPs(const PsOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_READING_PS_H_

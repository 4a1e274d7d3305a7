// `trainyard stop` and `trainyard kill`.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_STOP_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_STOP_H_

#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct StopOptions {
  std::vector<std::string> jobs;
  bool kill = false;
  bool yes = false;
};

// Adds both commands.
void AddStop(CLI::App& parent, Grammar& grammar);

Outcome RunStop(const StopOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_STOP_H_

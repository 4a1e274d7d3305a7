// `trainyard pause` and `trainyard resume`.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_PAUSE_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_PAUSE_H_

#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct PauseOptions {
  std::vector<std::string> jobs;
  bool resume = false;
  bool yes = false;
};

// Adds both commands.
void AddPause(CLI::App& parent, Grammar& grammar);

Outcome RunPause(const PauseOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_PAUSE_H_

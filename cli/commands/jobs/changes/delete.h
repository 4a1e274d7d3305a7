// `trainyard delete`: deletes ended jobs and their data.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_DELETE_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_DELETE_H_

#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct DeleteOptions {
  std::vector<std::string> jobs;
  bool checkpoints = false;
  bool yes = false;  // False: only shows what would be deleted.
};

// Adds the command and its options.
void AddDelete(CLI::App& parent, Grammar& grammar);

Outcome RunDelete(const DeleteOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_DELETE_H_

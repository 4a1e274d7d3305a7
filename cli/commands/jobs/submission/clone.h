// `trainyard clone`: submits a job again, with some settings changed.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_SUBMISSION_CLONE_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_SUBMISSION_CLONE_H_

#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct CloneOptions {
  std::string job;
  std::vector<std::string> changes;  // Such as "optimizer.lr=3e-4".
  bool dry_run = false;
  bool hold = false;
  std::string request_id;  // Empty: a new one.
};

// Adds the command and its options.
void AddClone(CLI::App& parent, Grammar& grammar);

Outcome RunClone(const CloneOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_SUBMISSION_CLONE_H_

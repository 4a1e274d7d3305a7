// `trainyard ckpt list`: lists the checkpoints of a job.
#ifndef TRAINYARD_CLI_COMMANDS_CHECKPOINTS_LIST_H_
#define TRAINYARD_CLI_COMMANDS_CHECKPOINTS_LIST_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct CheckpointListOptions {
  std::string job;
  bool all = false;
};

// Adds the command and its options.
void AddCheckpointList(CLI::App& noun, Grammar& grammar);

Outcome RunCheckpointList(const CheckpointListOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_CHECKPOINTS_LIST_H_

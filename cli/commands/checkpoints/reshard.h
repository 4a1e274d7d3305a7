// `trainyard ckpt reshard`: copies a checkpoint and changes its number of files.
#ifndef TRAINYARD_CLI_COMMANDS_CHECKPOINTS_RESHARD_H_
#define TRAINYARD_CLI_COMMANDS_CHECKPOINTS_RESHARD_H_

#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct CheckpointReshardOptions {
  std::string from;
  std::string to;
  int files = 0;  // 0: as many as needed for files of about 4 GiB.
  bool weights_only = false;
  bool force = false;
};

// Adds the command and its options.
void AddCheckpointReshard(CLI::App& noun, Grammar& grammar);

// Returns the arguments of trainyard-ckpt for these options.
std::vector<std::string> ReshardWords(const CheckpointReshardOptions& options);

// Replaces this process with trainyard-ckpt. Returns only on failure.
Outcome RunCheckpointReshard(const CheckpointReshardOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_CHECKPOINTS_RESHARD_H_

// `trainyard ckpt verify`: verifies every byte of a checkpoint on this machine.
#ifndef TRAINYARD_CLI_COMMANDS_CHECKPOINTS_VERIFY_H_
#define TRAINYARD_CLI_COMMANDS_CHECKPOINTS_VERIFY_H_

#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct CheckpointVerifyOptions {
  std::string directory;
  bool all = false;
};

// Adds the command and its options.
void AddCheckpointVerify(CLI::App& noun, Grammar& grammar);

// Returns the arguments of trainyard-ckpt for these options.
std::vector<std::string> VerifyWords(const CheckpointVerifyOptions& options);

// Replaces this process with trainyard-ckpt. Returns only on failure.
Outcome RunCheckpointVerify(const CheckpointVerifyOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_CHECKPOINTS_VERIFY_H_

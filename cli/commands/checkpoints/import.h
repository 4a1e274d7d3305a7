// `trainyard ckpt import`: creates a checkpoint from a Hugging Face directory.
#ifndef TRAINYARD_CLI_COMMANDS_CHECKPOINTS_IMPORT_H_
#define TRAINYARD_CLI_COMMANDS_CHECKPOINTS_IMPORT_H_

#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct CheckpointImportOptions {
  std::string from;
  std::string to;
  bool force = false;
};

// Adds the command and its options.
void AddCheckpointImport(CLI::App& noun, Grammar& grammar);

// Returns the arguments of trainyard-ckpt for these options.
std::vector<std::string> ImportWords(const CheckpointImportOptions& options);

// Replaces this process with trainyard-ckpt. Returns only on failure.
Outcome RunCheckpointImport(const CheckpointImportOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_CHECKPOINTS_IMPORT_H_

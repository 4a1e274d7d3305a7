// `trainyard ckpt export`: exports a checkpoint's weights as a Hugging Face directory.
#ifndef TRAINYARD_CLI_COMMANDS_CHECKPOINTS_EXPORT_H_
#define TRAINYARD_CLI_COMMANDS_CHECKPOINTS_EXPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct CheckpointExportOptions {
  std::string from;
  std::string to;
  std::string dtype;        // Empty: as stored.
  int64_t shard_bytes = 0;  // 0: 5 GB.
  bool force = false;
};

// Adds the command and its options.
void AddCheckpointExport(CLI::App& noun, Grammar& grammar);

// Returns the arguments of trainyard-ckpt for these options.
std::vector<std::string> ExportWords(const CheckpointExportOptions& options);

// Replaces this process with trainyard-ckpt. Returns only on failure.
Outcome RunCheckpointExport(const CheckpointExportOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_CHECKPOINTS_EXPORT_H_

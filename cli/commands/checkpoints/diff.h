// `trainyard ckpt diff`: compares two checkpoints.
#ifndef TRAINYARD_CLI_COMMANDS_CHECKPOINTS_DIFF_H_
#define TRAINYARD_CLI_COMMANDS_CHECKPOINTS_DIFF_H_

#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct CheckpointDiffOptions {
  std::string a;
  std::string b;
  std::string tolerance;  // As typed, so that it is not rounded. Empty: compare bitwise.
  std::string only;
  bool all = false;
};

// Adds the command and its options.
void AddCheckpointDiff(CLI::App& noun, Grammar& grammar);

// Returns the arguments of trainyard-ckpt for these options. format: kTable or kJson.
std::vector<std::string> DiffWords(const CheckpointDiffOptions& options, OutputFormat format);

// Replaces this process with trainyard-ckpt. Returns only on failure.
Outcome RunCheckpointDiff(const CheckpointDiffOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_CHECKPOINTS_DIFF_H_

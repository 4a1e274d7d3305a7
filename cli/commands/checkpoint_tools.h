// The commands ckpt verify, diff, reshard, import and export. They run a separate program,
// trainyard-ckpt, which reads checkpoints with LibTorch: linking LibTorch's protobuf together with
// the CLI's ends the process.
#ifndef TRAINYARD_CLI_COMMANDS_CHECKPOINT_TOOLS_H_
#define TRAINYARD_CLI_COMMANDS_CHECKPOINT_TOOLS_H_

#include <string>
#include <vector>

#include "cli/commands/commands.h"

namespace trainyard::cli {

// Arguments of trainyard-ckpt for these options.
std::vector<std::string> VerifyWords(const CheckpointVerifyOptions& options);
// format: kTable or kJson.
std::vector<std::string> DiffWords(const CheckpointDiffOptions& options, OutputFormat format);
std::vector<std::string> ReshardWords(const CheckpointReshardOptions& options);
std::vector<std::string> ImportWords(const CheckpointImportOptions& options);
std::vector<std::string> ExportWords(const CheckpointExportOptions& options);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_CHECKPOINT_TOOLS_H_

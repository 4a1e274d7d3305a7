// The commands ckpt verify, diff, reshard, import and export. A separate program, trainyard-ckpt,
// does the work: it reads checkpoints with LibTorch, whose protobuf ends the process when that of
// the CLI is linked too.
#ifndef TRAINYARD_CLI_COMMANDS_CHECKPOINT_TOOLS_H_
#define TRAINYARD_CLI_COMMANDS_CHECKPOINT_TOOLS_H_

#include <string>
#include <vector>

#include "cli/commands/commands.h"

namespace trainyard::cli {

// The words behind the program's name that give trainyard-ckpt these options.
std::vector<std::string> VerifyWords(const CheckpointVerifyOptions& options);
// format: kTable or kJson.
std::vector<std::string> DiffWords(const CheckpointDiffOptions& options, OutputFormat format);
std::vector<std::string> ReshardWords(const CheckpointReshardOptions& options);
std::vector<std::string> ImportWords(const CheckpointImportOptions& options);
std::vector<std::string> ExportWords(const CheckpointExportOptions& options);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_CHECKPOINT_TOOLS_H_

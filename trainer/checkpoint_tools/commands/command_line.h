// The command line of trainyard-ckpt.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_COMMAND_LINE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_COMMAND_LINE_H_

#include <string>
#include <variant>
#include <vector>

#include "trainer/checkpoint_tools/commands/diff.h"
#include "trainer/checkpoint_tools/commands/export.h"
#include "trainer/checkpoint_tools/commands/import.h"
#include "trainer/checkpoint_tools/commands/reshard.h"
#include "trainer/checkpoint_tools/commands/verify.h"

namespace trainyard::trainer {

struct DiffCommand {
  DiffOptions options;
  bool all_tensors = false;  // Lists equal tensors too.
  bool json = false;         // Instead of tables.
};

// Text to print instead of running a command, such as the text of --help.
struct Answer {
  std::string text;
};

using CheckpointCommand =
    std::variant<Answer, VerifyOptions, DiffCommand, ReshardOptions, ImportOptions, ExportOptions>;

// Parses the arguments, which do not include the program name. Options may appear anywhere before
// "--", as --name VALUE or --name=VALUE. Throws TrainerError(kUsage).
CheckpointCommand ParseCheckpointCommand(const std::vector<std::string>& arguments);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_COMMAND_LINE_H_

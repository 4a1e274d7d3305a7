// The noun `ckpt` and its commands.
#ifndef TRAINYARD_CLI_COMMANDS_CHECKPOINTS_CHECKPOINT_COMMANDS_H_
#define TRAINYARD_CLI_COMMANDS_CHECKPOINTS_CHECKPOINT_COMMANDS_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

void AddCheckpointCommands(CLI::App& app, Grammar& grammar);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_CHECKPOINTS_CHECKPOINT_COMMANDS_H_

// Runs trainyard-ckpt for ckpt verify, diff, reshard, import and export. It is a separate program
// that reads checkpoints with LibTorch: linking LibTorch's protobuf together with the CLI's ends
// the process.
#ifndef TRAINYARD_CLI_COMMANDS_CHECKPOINTS_CHECKPOINT_PROGRAM_H_
#define TRAINYARD_CLI_COMMANDS_CHECKPOINTS_CHECKPOINT_PROGRAM_H_

#include <string>
#include <vector>

#include "cli/context/context.h"

namespace trainyard::cli {

// Replaces this process by trainyard-ckpt, in the directory of this program. Returns only on
// failure.
Outcome RunCheckpointProgram(std::vector<std::string> words, Context& context);

// The error of a command for an output format other than `formats`.
Outcome RefuseFormat(const char* formats);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_CHECKPOINTS_CHECKPOINT_PROGRAM_H_

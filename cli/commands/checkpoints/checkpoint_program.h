// Runs trainyard-ckpt for ckpt verify, diff, reshard, import and export. A separate program reads
// checkpoints, because reading needs LibTorch. LibTorch contains its own protobuf, and a process
// with two versions of protobuf aborts.
#ifndef TRAINYARD_CLI_COMMANDS_CHECKPOINTS_CHECKPOINT_PROGRAM_H_
#define TRAINYARD_CLI_COMMANDS_CHECKPOINTS_CHECKPOINT_PROGRAM_H_

#include <string>
#include <vector>

#include "cli/context/context.h"

namespace trainyard::cli {

// Replaces this process with trainyard-ckpt, which is in the directory of this program. Returns
// only on failure.
Outcome RunCheckpointProgram(std::vector<std::string> words, Context& context);

// Returns the error for an output format that the command does not support. `formats` names the
// supported formats.
Outcome RefuseFormat(const char* formats);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_CHECKPOINTS_CHECKPOINT_PROGRAM_H_

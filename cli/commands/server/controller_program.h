// Runs the controller's program on this machine, because only that program can read the
// controller's files.
#ifndef TRAINYARD_CLI_COMMANDS_SERVER_CONTROLLER_PROGRAM_H_
#define TRAINYARD_CLI_COMMANDS_SERVER_CONTROLLER_PROGRAM_H_

#include <string>
#include <vector>

#include "cli/context/context.h"

namespace trainyard::cli {

// Runs trainyard-controller with --data-dir and `words`, and waits until it ends.
// trainyard-controller is in the directory of this program, and prints its own errors and results.
// Returns kFailed if it fails.
Outcome RunControllerProgram(const std::string& data_dir, const std::vector<std::string>& words,
                             Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_SERVER_CONTROLLER_PROGRAM_H_

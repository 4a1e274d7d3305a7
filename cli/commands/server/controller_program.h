// Runs the controller's program on this machine, because only that program can read the
// controller's files.
#ifndef TRAINYARD_CLI_COMMANDS_SERVER_CONTROLLER_PROGRAM_H_
#define TRAINYARD_CLI_COMMANDS_SERVER_CONTROLLER_PROGRAM_H_

#include <string>
#include <vector>

#include "cli/context/context.h"

namespace trainyard::cli {

// Runs trainyard-controller, which is in the directory of this program, with --data-dir and
// `words`, and waits for its end. The program prints its own errors and results. Returns kFailed if
// it fails.
Outcome RunControllerProgram(const std::string& data_dir, const std::vector<std::string>& words,
                             Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_SERVER_CONTROLLER_PROGRAM_H_

// Entry point of the command line: maps arguments to an exit code.
#ifndef TRAINYARD_CLI_APP_H_
#define TRAINYARD_CLI_APP_H_

#include <string>
#include <vector>

#include "cli/context/environment.h"

namespace trainyard::cli {

// Runs one command line (without the program's name) and returns an exit code of
// process/exit_code.h. Never throws. Connects only if the command needs the controller.
int RunTrainyard(const std::vector<std::string>& arguments, Environment& environment);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_APP_H_

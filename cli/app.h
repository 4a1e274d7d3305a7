// The command line as a whole: arguments in, exit code out.
#ifndef TRAINYARD_CLI_APP_H_
#define TRAINYARD_CLI_APP_H_

#include <string>
#include <vector>

#include "cli/environment.h"

namespace trainyard::cli {

// Runs one command line (without the program's name) and returns the exit code of exit_code.h.
// Never throws. Opens no connection for commands that need none.
int RunTrainyard(const std::vector<std::string>& arguments, Environment& environment);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_APP_H_

// Hands the command over to a program in the directory of this one.
#ifndef TRAINYARD_CLI_PROCESS_REPLACE_PROCESS_H_
#define TRAINYARD_CLI_PROCESS_REPLACE_PROCESS_H_

#include <string>
#include <vector>

namespace trainyard::cli {

// Replaces this process by the program line[0], a path, with the arguments `line`. Returns only on
// failure, with errno.
int ReplaceProcess(const std::vector<std::string>& line);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_PROCESS_REPLACE_PROCESS_H_

// Replaces this process with another program from the same directory.
#ifndef TRAINYARD_CLI_PROCESS_REPLACE_PROCESS_H_
#define TRAINYARD_CLI_PROCESS_REPLACE_PROCESS_H_

#include <string>
#include <vector>

namespace trainyard::cli {

// Replaces this process with the program at path line[0], with `line` as its arguments. If that
// fails, returns the errno value.
int ReplaceProcess(const std::vector<std::string>& line);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_PROCESS_REPLACE_PROCESS_H_

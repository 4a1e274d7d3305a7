// Replaces this process by another program in the same directory.
#ifndef TRAINYARD_CLI_PROCESS_REPLACE_PROCESS_H_
#define TRAINYARD_CLI_PROCESS_REPLACE_PROCESS_H_

#include <string>
#include <vector>

namespace trainyard::cli {

// Replaces this process by the program at path line[0], with `line` as its arguments. Returns only
// on failure, with the errno value.
int ReplaceProcess(const std::vector<std::string>& line);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_PROCESS_REPLACE_PROCESS_H_

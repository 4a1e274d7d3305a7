#include "cli/process/replace_process.h"

#include <unistd.h>

#include <cerrno>

namespace trainyard::cli {

int ReplaceProcess(const std::vector<std::string>& line) {
  std::vector<char*> arguments;
  for (const std::string& argument : line) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  return errno;
}

}  // namespace trainyard::cli

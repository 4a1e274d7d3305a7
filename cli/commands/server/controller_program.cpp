#include "cli/commands/server/controller_program.h"

#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "proto/process/spawn.h"

namespace trainyard::cli {
namespace {

// Runs a program with the stdin, stdout and stderr of this process, and waits until the program
// ends. The program prints its own errors.
Outcome RunProgram(const std::vector<std::string>& arguments) {
  pid_t pid = 0;
  if (const int error = Spawn({.command = arguments}, pid); error != 0) {
    return absl::NotFoundError(
        absl::StrCat("cannot run ", arguments[0], ": ", std::strerror(error),
                     "\ninstall this program in the directory of `trainyard`"));
  }
  const int status = AwaitExit(pid);
  if (status < 0) {
    return absl::InternalError(absl::StrCat("cannot determine whether ", arguments[0],
                                            " succeeded: ", std::strerror(errno)));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ExitCode::kOk : ExitCode::kFailed;
}

}  // namespace

Outcome RunControllerProgram(const std::string& data_dir, const std::vector<std::string>& words,
                             Context& context) {
  // Flush first, so that the output of this process appears before the program's output.
  context.console.out->flush();
  std::vector<std::string> arguments = {
      context.environment.program_directory + "/trainyard-controller", "--data-dir", data_dir};
  arguments.insert(arguments.end(), words.begin(), words.end());
  return RunProgram(arguments);
}

}  // namespace trainyard::cli

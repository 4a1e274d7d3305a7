// The commands server backup and server restore. They run the controller's program on this machine,
// because only that program can read its files.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/commands/commands.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Runs a program to its end with the streams of this process. The program prints its own errors.
Outcome RunProgram(const std::vector<std::string>& arguments) {
  std::vector<char*> raw;
  for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, raw[0], nullptr, nullptr, raw.data(), environ);
  if (error != 0) {
    return absl::NotFoundError(absl::StrCat("cannot run ", arguments[0], ": ", std::strerror(error),
                                            "\ninstall it beside this program"));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ExitCode::kOk : ExitCode::kFailed;
}

Outcome CopyStore(const char* command, const std::string& data_dir, const std::string& directory,
                  Context& context) {
  context.console.out->flush();
  return RunProgram({context.environment.program_directory + "/trainyard-controller", "--data-dir",
                     data_dir, command, directory});
}

}  // namespace

Outcome RunServerBackup(const StoreCopyOptions& options, Context& context) {
  if (!options.data_dir.empty()) {
    return CopyStore("backup", options.data_dir, options.directory, context);
  }
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetServerInfoResponse info, context.client.GetServerInfo());
  if (!std::filesystem::exists(info.data_dir())) {
    return absl::FailedPreconditionError(
        absl::StrCat("the controller at ", context.client.server(), " keeps its store in ",
                     info.data_dir(), ", which is not on this machine\nrun this where it runs"));
  }
  return CopyStore("backup", info.data_dir(), options.directory, context);
}

Outcome RunServerRestore(const StoreCopyOptions& options, Context& context) {
  return CopyStore("restore", options.data_dir, options.directory, context);
}

}  // namespace trainyard::cli

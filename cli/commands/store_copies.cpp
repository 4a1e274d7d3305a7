// The commands server backup, check and restore. They run the controller's program on this machine,
// because only that program can read its files.
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cli/commands/commands.h"
#include "proto/process/spawn.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Runs a program with this process's stdin, stdout and stderr, and waits until it ends. The program
// prints its own errors.
Outcome RunProgram(const std::vector<std::string>& arguments) {
  pid_t pid = 0;
  if (const int error = Spawn({.command = arguments}, pid); error != 0) {
    return absl::NotFoundError(absl::StrCat("cannot run ", arguments[0], ": ", std::strerror(error),
                                            "\ninstall it beside this program"));
  }
  const int status = AwaitExit(pid);
  if (status < 0) {
    return absl::InternalError(
        absl::StrCat("cannot tell whether ", arguments[0], " succeeded: ", std::strerror(errno)));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ExitCode::kOk : ExitCode::kFailed;
}

// `command`: "backup" or "restore". `directory`: the backup to write or to read.
Outcome CopyStore(const char* command, const std::string& data_dir, const std::string& directory,
                  Context& context) {
  // Earlier output of this process must come before that of the program.
  context.console.out->flush();
  return RunProgram({context.environment.program_directory + "/trainyard-controller", "--data-dir",
                     data_dir, command, directory});
}

// OK if the data directory on this machine belongs to the controller that answered. Another machine
// may have another controller's store at the same path.
absl::Status CheckStoreIsHere(const v1::GetServerInfoResponse& info, const std::string& server) {
  const std::string place =
      absl::StrCat("the controller at ", server, " keeps its store in ", info.data_dir());
  const absl::StatusOr<std::string> id = ReadSmallFile(info.data_dir() + "/cluster_id");
  if (absl::IsNotFound(id.status())) {
    return absl::FailedPreconditionError(
        absl::StrCat(place, ", which is not on this machine\nrun this where it runs"));
  }
  if (!id.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(place, ", which cannot be read here: ", id.status().message(),
                     "\nrun this on its machine, as the user that it runs as"));
  }
  if (absl::StripAsciiWhitespace(*id) != info.cluster_id()) {
    return absl::FailedPreconditionError(
        absl::StrCat(place, ", but that directory on this machine belongs to another controller",
                     "\nrun this where it runs"));
  }
  return absl::OkStatus();
}

}  // namespace

Outcome RunServerBackup(const StoreCopyOptions& options, Context& context) {
  if (!options.data_dir.empty()) {
    return CopyStore("backup", options.data_dir, options.directory, context);
  }
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetServerInfoResponse info, context.client.GetServerInfo());
  TRAINYARD_RETURN_IF_ERROR(CheckStoreIsHere(info, context.client.server()));
  return CopyStore("backup", info.data_dir(), options.directory, context);
}

Outcome RunServerCheck(const std::string& data_dir, Context& context) {
  if (data_dir.empty()) return RunServerCheckOnline(context);
  context.console.out->flush();
  return RunProgram({context.environment.program_directory + "/trainyard-controller", "--data-dir",
                     data_dir, "check"});
}

Outcome RunServerRestore(const StoreCopyOptions& options, Context& context) {
  return CopyStore("restore", options.data_dir, options.directory, context);
}

}  // namespace trainyard::cli

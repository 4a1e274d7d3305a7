#include "cli/commands/server/backup.h"

#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cli/commands/server/controller_program.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Returns OK if the data directory on this machine belongs to the controller that answered. If that
// controller runs elsewhere, the path may belong to a different controller on this machine.
absl::Status CheckStoreIsHere(const v1::GetServerInfoResponse& info, const std::string& server) {
  const std::string place =
      absl::StrCat("the controller at ", server, " keeps its data in ", info.data_dir());
  const absl::StatusOr<std::string> id = ReadSmallFile(info.data_dir() + "/cluster_id");
  if (absl::IsNotFound(id.status())) {
    return absl::FailedPreconditionError(absl::StrCat(
        place, ", which is not on this machine\nrun this command on the controller's machine"));
  }
  if (!id.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(place, ", which cannot be read on this machine: ", id.status().message(),
                     "\nrun this command on the controller's machine, as the controller's user"));
  }
  if (absl::StripAsciiWhitespace(*id) != info.cluster_id()) {
    return absl::FailedPreconditionError(
        absl::StrCat(place, ", but that directory on this machine belongs to another controller",
                     "\nrun this command on the controller's machine"));
  }
  return absl::OkStatus();
}

}  // namespace

void AddServerBackup(CLI::App& server, Grammar& grammar) {
  const auto options = std::make_shared<BackupOptions>();
  CLI::App* command =
      server.add_subcommand("backup",
                            "Back up the controller's store; run this command on the controller's "
                            "machine. The controller may be running");
  command->add_option("dir", options->directory, "directory to create")->required();
  command->add_option("--data-dir", options->data_dir,
                      "controller's data directory (default: ask the running controller)");
  AddStoreFlags(*command, options->store);
  grammar.runners[command] = [options](Context& context) {
    return RunServerBackup(*options, context);
  };
}

Outcome RunServerBackup(const BackupOptions& options, Context& context) {
  std::vector<std::string> words = {"backup", options.directory};
  AppendStoreFlags(options.store, words);
  if (!options.data_dir.empty()) return RunControllerProgram(options.data_dir, words, context);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetServerInfoResponse info, context.client.GetServerInfo());
  TRAINYARD_RETURN_IF_ERROR(CheckStoreIsHere(info, context.client.server()));
  return RunControllerProgram(info.data_dir(), words, context);
}

}  // namespace trainyard::cli

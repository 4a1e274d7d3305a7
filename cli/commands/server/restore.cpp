#include "cli/commands/server/restore.h"

#include <memory>
#include <vector>

#include "cli/commands/server/controller_program.h"

namespace trainyard::cli {

void AddServerRestore(CLI::App& server, Grammar& grammar) {
  const auto options = std::make_shared<RestoreOptions>();
  CLI::App* command = server.add_subcommand(
      "restore",
      "Verify a backup, then restore it to a data directory or a database that contains no store");
  command->add_option("dir", options->directory, "backup directory")->required();
  command->add_option("--data-dir", options->data_dir, "data directory of a stopped controller")
      ->required();
  AddStoreFlags(*command, options->store);
  grammar.runners[command] = [options](Context& context) {
    return RunServerRestore(*options, context);
  };
}

Outcome RunServerRestore(const RestoreOptions& options, Context& context) {
  std::vector<std::string> words = {"restore", options.directory};
  AppendStoreFlags(options.store, words);
  return RunControllerProgram(options.data_dir, words, context);
}

}  // namespace trainyard::cli

#include "cli/commands/server/migrate.h"

#include <memory>
#include <vector>

#include "cli/commands/server/controller_program.h"

namespace trainyard::cli {

void AddServerMigrate(CLI::App& server, Grammar& grammar) {
  const auto options = std::make_shared<MigrateOptions>();
  CLI::App* command = server.add_subcommand(
      "migrate", "Move a stopped controller's store to PostgreSQL or back to SQLite files");
  command
      ->add_option("--to", options->to,
                   "postgres (the database of --postgres or --config), or sqlite (files in the "
                   "data directory)")
      ->check(CLI::IsMember({"postgres", "sqlite"}))
      ->required();
  command->add_option("--data-dir", options->data_dir, "data directory of the stopped controller")
      ->required();
  AddStoreFlags(*command, options->store);
  grammar.runners[command] = [options](Context& context) {
    return RunServerMigrate(*options, context);
  };
}

Outcome RunServerMigrate(const MigrateOptions& options, Context& context) {
  std::vector<std::string> words = {"migrate", "--to", options.to};
  AppendStoreFlags(options.store, words);
  return RunControllerProgram(options.data_dir, words, context);
}

}  // namespace trainyard::cli

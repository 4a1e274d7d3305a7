// `trainyard server migrate`: moves a stopped controller's store between SQLite and PostgreSQL.
#ifndef TRAINYARD_CLI_COMMANDS_SERVER_MIGRATE_H_
#define TRAINYARD_CLI_COMMANDS_SERVER_MIGRATE_H_

#include <string>

#include "cli/commands/server/store_flags.h"
#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct MigrateOptions {
  std::string to;  // "postgres" or "sqlite".
  std::string data_dir;
  StoreFlags store;
};

// Adds the command and its options.
void AddServerMigrate(CLI::App& server, Grammar& grammar);

Outcome RunServerMigrate(const MigrateOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_SERVER_MIGRATE_H_

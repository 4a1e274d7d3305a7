// `trainyard server restore`: restores a backup to a data directory that has no store.
#ifndef TRAINYARD_CLI_COMMANDS_SERVER_RESTORE_H_
#define TRAINYARD_CLI_COMMANDS_SERVER_RESTORE_H_

#include <string>

#include "cli/commands/server/store_flags.h"
#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct RestoreOptions {
  std::string directory;  // The backup.
  std::string data_dir;
  StoreFlags store;
};

// Adds the command and its options.
void AddServerRestore(CLI::App& server, Grammar& grammar);

Outcome RunServerRestore(const RestoreOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_SERVER_RESTORE_H_

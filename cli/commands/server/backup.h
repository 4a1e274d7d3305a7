// `trainyard server backup`: copies the controller's store. Must run on the controller's machine.
#ifndef TRAINYARD_CLI_COMMANDS_SERVER_BACKUP_H_
#define TRAINYARD_CLI_COMMANDS_SERVER_BACKUP_H_

#include <string>

#include "cli/commands/server/store_flags.h"
#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct BackupOptions {
  std::string directory;  // The directory to write.
  std::string data_dir;   // Empty: use the directory of the running controller.
  StoreFlags store;
};

// Adds the command and its options.
void AddServerBackup(CLI::App& server, Grammar& grammar);

Outcome RunServerBackup(const BackupOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_SERVER_BACKUP_H_

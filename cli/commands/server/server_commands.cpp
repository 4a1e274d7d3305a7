#include "cli/commands/server/server_commands.h"

#include "cli/commands/server/backup.h"
#include "cli/commands/server/check.h"
#include "cli/commands/server/hand_over.h"
#include "cli/commands/server/migrate.h"
#include "cli/commands/server/restore.h"
#include "cli/commands/server/sessions.h"
#include "cli/commands/server/status.h"

namespace trainyard::cli {

void AddServerCommands(CLI::App& app, Grammar& grammar) {
  CLI::App* noun = app.add_subcommand(
      "server", "The controller: status, check, sessions, hand-over, backup, restore, migrate");
  noun->require_subcommand(0, 1);
  MakeServerStatus(*noun, grammar);
  MakeServerStatus(*noun->add_subcommand("status", "Show version, uptime, storage and problems"),
                   grammar);
  AddServerCheck(*noun, grammar);
  AddServerSessions(*noun, grammar);
  AddServerHandOver(*noun, grammar);
  AddServerBackup(*noun, grammar);
  AddServerRestore(*noun, grammar);
  AddServerMigrate(*noun, grammar);
}

}  // namespace trainyard::cli

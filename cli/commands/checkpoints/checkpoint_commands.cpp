#include "cli/commands/checkpoints/checkpoint_commands.h"

#include "cli/commands/checkpoints/diff.h"
#include "cli/commands/checkpoints/export.h"
#include "cli/commands/checkpoints/import.h"
#include "cli/commands/checkpoints/list.h"
#include "cli/commands/checkpoints/reshard.h"
#include "cli/commands/checkpoints/verify.h"

namespace trainyard::cli {

void AddCheckpointCommands(CLI::App& app, Grammar& grammar) {
  CLI::App* noun =
      app.add_subcommand("ckpt", "Checkpoints: list, verify, diff, reshard, import, export");
  noun->require_subcommand(1);
  AddCheckpointList(*noun, grammar);
  AddCheckpointVerify(*noun, grammar);
  AddCheckpointDiff(*noun, grammar);
  AddCheckpointReshard(*noun, grammar);
  AddCheckpointImport(*noun, grammar);
  AddCheckpointExport(*noun, grammar);
}

}  // namespace trainyard::cli

#include "cli/commands/queues/queue_commands.h"

#include "cli/commands/queues/change.h"
#include "cli/commands/queues/list.h"
#include "cli/commands/queues/move.h"

namespace trainyard::cli {

void AddQueueCommands(CLI::App& app, Grammar& grammar) {
  CLI::App* queue = app.add_subcommand("queue", "Waiting jobs in order, and queues: set, delete");
  queue->require_subcommand(0, 1);
  MakeQueueList(*queue, grammar);
  MakeQueueList(*queue->add_subcommand("list", "Alias of queue"), grammar);
  AddQueueShares(*queue, grammar);
  AddQueueSet(*queue, grammar);
  AddQueueDelete(*queue, grammar);
  AddQueueMove(*queue, grammar);
}

}  // namespace trainyard::cli

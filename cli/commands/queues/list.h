// `trainyard queue` lists the waiting jobs; `trainyard queue shares` lists the queues.
#ifndef TRAINYARD_CLI_COMMANDS_QUEUES_LIST_H_
#define TRAINYARD_CLI_COMMANDS_QUEUES_LIST_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Makes `command` the list of waiting jobs.
void MakeQueueList(CLI::App& command, Grammar& grammar);
void AddQueueShares(CLI::App& queue, Grammar& grammar);

Outcome RunQueueList(int limit, Context& context);
Outcome RunQueueShares(Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_QUEUES_LIST_H_

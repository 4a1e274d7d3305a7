// `trainyard queue`: lists queues and waiting jobs, changes queues, and moves jobs.
#ifndef TRAINYARD_CLI_COMMANDS_QUEUES_QUEUE_COMMANDS_H_
#define TRAINYARD_CLI_COMMANDS_QUEUES_QUEUE_COMMANDS_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

void AddQueueCommands(CLI::App& app, Grammar& grammar);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_QUEUES_QUEUE_COMMANDS_H_

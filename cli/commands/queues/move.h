// `trainyard queue move`: changes the queue or the priority of a job.
#ifndef TRAINYARD_CLI_COMMANDS_QUEUES_MOVE_H_
#define TRAINYARD_CLI_COMMANDS_QUEUES_MOVE_H_

#include <optional>
#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct QueueMoveOptions {
  std::string job;
  std::string queue;
  std::optional<int> priority;
};

void AddQueueMove(CLI::App& queue, Grammar& grammar);

Outcome RunQueueMove(const QueueMoveOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_QUEUES_MOVE_H_

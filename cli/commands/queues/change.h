// `trainyard queue set` and `trainyard queue delete`.
#ifndef TRAINYARD_CLI_COMMANDS_QUEUES_CHANGE_H_
#define TRAINYARD_CLI_COMMANDS_QUEUES_CHANGE_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct QueueSetOptions {
  std::string name;
  std::optional<int> shares;
  std::optional<int> tier;
  // Each limit is "KIND=SLOTS", such as "gpu=64".
  std::vector<std::string> nominal;
  std::vector<std::string> max_slots;
  std::vector<std::string> max_slots_per_user;
};

void AddQueueSet(CLI::App& queue, Grammar& grammar);
void AddQueueDelete(CLI::App& queue, Grammar& grammar);

// Settings that no option names keep their values.
Outcome RunQueueSet(const QueueSetOptions& options, Context& context);
Outcome RunQueueDelete(const std::string& name, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_QUEUES_CHANGE_H_

// `trainyard node drain`. `node undrain` is an alias of `node uncordon` (cordon.h).
#ifndef TRAINYARD_CLI_COMMANDS_NODES_DRAIN_H_
#define TRAINYARD_CLI_COMMANDS_NODES_DRAIN_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct DrainOptions {
  std::string node;  // Name or id.
  std::string deadline = "0";
  std::string reason;
};

// Adds `node drain`.
void AddDrain(CLI::App& node, Grammar& grammar);

Outcome RunDrain(const DrainOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_NODES_DRAIN_H_

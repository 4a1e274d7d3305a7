// `trainyard node cordon` and `node uncordon`, which `node undrain` is another name of.
#ifndef TRAINYARD_CLI_COMMANDS_NODES_CORDON_H_
#define TRAINYARD_CLI_COMMANDS_NODES_CORDON_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct CordonOptions {
  std::string node;  // Name or id.
  std::string reason;
  // False: uncordon the node.
  bool cordoned = true;
};

// Adds these commands.
void AddCordon(CLI::App& node, Grammar& grammar);

Outcome RunCordon(const CordonOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_NODES_CORDON_H_

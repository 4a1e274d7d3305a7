// `trainyard node release`: ends the quarantine of a node.
#ifndef TRAINYARD_CLI_COMMANDS_NODES_RELEASE_H_
#define TRAINYARD_CLI_COMMANDS_NODES_RELEASE_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct ReleaseOptions {
  std::string node;
  std::string reason;
};

// Adds the command and its options.
void AddReleaseNode(CLI::App& node, Grammar& grammar);

Outcome RunReleaseNode(const ReleaseOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_NODES_RELEASE_H_

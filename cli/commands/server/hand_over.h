// `trainyard server hand-over`: makes a standby the leader.
#ifndef TRAINYARD_CLI_COMMANDS_SERVER_HAND_OVER_H_
#define TRAINYARD_CLI_COMMANDS_SERVER_HAND_OVER_H_

#include <chrono>
#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct HandOverOptions {
  std::string to;  // Address of the standby; empty: the leader chooses a ready one.
  // Time limit for the standby to lead.
  std::chrono::milliseconds wait{10'000};
};

// Adds the command and its options.
void AddServerHandOver(CLI::App& server, Grammar& grammar);

// Returns after the standby leads.
Outcome RunServerHandOver(const HandOverOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_SERVER_HAND_OVER_H_

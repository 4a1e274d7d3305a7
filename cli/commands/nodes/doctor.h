// `trainyard doctor`: checks every node.
#ifndef TRAINYARD_CLI_COMMANDS_NODES_DOCTOR_H_
#define TRAINYARD_CLI_COMMANDS_NODES_DOCTOR_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Adds the command and its options.
void AddDoctor(CLI::App& parent, Grammar& grammar);

Outcome RunDoctor(Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_NODES_DOCTOR_H_

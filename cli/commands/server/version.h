// `trainyard version`: shows the versions of this program and of the controller.
#ifndef TRAINYARD_CLI_COMMANDS_SERVER_VERSION_H_
#define TRAINYARD_CLI_COMMANDS_SERVER_VERSION_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Adds the command and its options.
void AddVersion(CLI::App& parent, Grammar& grammar);

// client_only: true to show only this program's version, without contacting the controller.
Outcome RunVersion(bool client_only, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_SERVER_VERSION_H_

// `trainyard server status`: shows the version, addresses, space, hooks and problems of the
// controller.
#ifndef TRAINYARD_CLI_COMMANDS_SERVER_STATUS_H_
#define TRAINYARD_CLI_COMMANDS_SERVER_STATUS_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Makes `command` show the status.
void MakeServerStatus(CLI::App& command, Grammar& grammar);

Outcome RunServerStatus(Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_SERVER_STATUS_H_

// `trainyard dashboard`: prints a URL that logs in to the dashboard.
#ifndef TRAINYARD_CLI_COMMANDS_SERVER_DASHBOARD_H_
#define TRAINYARD_CLI_COMMANDS_SERVER_DASHBOARD_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Adds the command and its options.
void AddDashboard(CLI::App& parent, Grammar& grammar);

Outcome RunDashboard(Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_SERVER_DASHBOARD_H_

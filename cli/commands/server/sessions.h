// `trainyard server sessions`: lists or ends dashboard sessions.
#ifndef TRAINYARD_CLI_COMMANDS_SERVER_SESSIONS_H_
#define TRAINYARD_CLI_COMMANDS_SERVER_SESSIONS_H_

#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Without ids and with end_all false, the sessions are listed.
struct SessionsOptions {
  std::vector<std::string> ended_ids;
  bool end_all = false;
};

// Adds the command and its options.
void AddServerSessions(CLI::App& server, Grammar& grammar);

Outcome RunServerSessions(const SessionsOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_SERVER_SESSIONS_H_

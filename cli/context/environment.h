// Environment of a command, filled by main.cpp from the process and by tests manually.
#ifndef TRAINYARD_CLI_CONTEXT_ENVIRONMENT_H_
#define TRAINYARD_CLI_CONTEXT_ENVIRONMENT_H_

#include <string>
#include <vector>

#include "cli/client/client.h"
#include "cli/output/console.h"
#include "cli/process/interrupt.h"
#include "cli/process/restart_backoff.h"

namespace trainyard::cli {

inline constexpr char kDefaultServer[] = "127.0.0.1:7070";

struct Environment {
  Console console;
  // HOST:PORT used without --server.
  std::string server = kDefaultServer;
  ClientLimits limits;
  // Places to look for the controller's token.
  AccessPlaces access;
  // Login name of the submitting user.
  std::string user;
  std::string home;
  // Searched in order, after the directories given with --recipes.
  std::vector<std::string> recipe_directories;
  // Directory of this program, which also contains the daemons.
  std::string program_directory;
  // False in tests that raise the interrupt themselves.
  bool listen_to_signals = true;
  Interrupt* interrupt = nullptr;
  // Limits for the daemons of `trainyard dev`.
  RestartLimits dev_restarts;
};

// Streams, address, user and directories of this process.
Environment SystemEnvironment(const Clock& clock, Interrupt& interrupt);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONTEXT_ENVIRONMENT_H_

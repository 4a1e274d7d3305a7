// Environment of a command. main.cpp fills it from the process; tests fill it by hand.
#ifndef TRAINYARD_CLI_ENVIRONMENT_H_
#define TRAINYARD_CLI_ENVIRONMENT_H_

#include <string>
#include <vector>

#include "cli/client.h"
#include "cli/dev/restart_backoff.h"
#include "cli/interrupt.h"
#include "cli/output/console.h"

namespace trainyard::cli {

inline constexpr char kDefaultServer[] = "127.0.0.1:7070";

struct Environment {
  Console console;
  // HOST:PORT used without --server.
  std::string server = kDefaultServer;
  ClientLimits limits;
  // Places where the controller's token may be.
  AccessPlaces access;
  // Login name of the user who submits.
  std::string user;
  std::string home;
  // Searched in order, after the directories given with --recipes.
  std::vector<std::string> recipe_directories;
  // Directory of this program: its siblings are the daemons.
  std::string program_directory;
  // False in tests that raise the interrupt themselves.
  bool listen_to_signals = true;
  Interrupt* interrupt = nullptr;
  // Of the daemons of `trainyard dev`.
  RestartLimits dev_restarts;
};

// Streams, address, user and directories of this process.
Environment SystemEnvironment(const Clock& clock, Interrupt& interrupt);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_ENVIRONMENT_H_

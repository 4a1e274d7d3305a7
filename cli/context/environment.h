// The environment of a command. main.cpp uses the process's values; tests use their own values.
#ifndef TRAINYARD_CLI_CONTEXT_ENVIRONMENT_H_
#define TRAINYARD_CLI_CONTEXT_ENVIRONMENT_H_

#include <string>
#include <vector>

#include "cli/client/client.h"
#include "cli/output/terminal/console.h"
#include "cli/process/interrupt.h"
#include "cli/process/restart_backoff.h"

namespace trainyard::cli {

inline constexpr char kDefaultServer[] = "127.0.0.1:7070";

struct Environment {
  Console console;
  // HOST:PORT to use if --server is not given.
  std::string server = kDefaultServer;
  ClientLimits limits;
  // The places in which to look for the controller's token.
  AccessPlaces access;
  // Login name of the user who submits jobs.
  std::string user;
  std::string home;
  // Directories that are searched in this order, after those given with --recipes.
  std::vector<std::string> recipe_directories;
  // Directory of this program, which also contains the daemons.
  std::string program_directory;
  // False in tests, which raise the interrupt themselves.
  bool listen_to_signals = true;
  Interrupt* interrupt = nullptr;
  // Restart limits of the daemons of `trainyard dev`.
  RestartLimits dev_restarts;
};

// Returns the environment of this process: its streams, address, user and directories.
Environment SystemEnvironment(const Clock& clock, Interrupt& interrupt);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONTEXT_ENVIRONMENT_H_

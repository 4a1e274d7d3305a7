// `trainyard dev`: a whole cluster on this machine.
#ifndef TRAINYARD_CLI_DEV_DEV_H_
#define TRAINYARD_CLI_DEV_DEV_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct DevOptions {
  int nodes = 2;
  int slots_per_node = 1;
  // Empty: ~/.local/share/trainyard/dev.
  std::string data_dir;
  std::string listen = kDefaultServer;
};

// Adds the command and its options.
void AddDev(CLI::App& app, Grammar& grammar);

// Starts the controller and the workers, prints their addresses and paths, restarts daemons that
// die, at the same address, and returns after Ctrl-C or SIGTERM (OK). Exit code 1 if one of them
// ends before all are ready, or dies repeatedly. In every case nothing is left running: the workers
// are stopped first, with their ranks, then the controller.
Outcome RunDev(const DevOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DEV_DEV_H_

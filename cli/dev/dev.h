// `trainyard dev`: runs a whole cluster on this machine.
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

// Starts the controller and the workers, and prints their addresses and paths. A daemon that dies
// is restarted at its old address. Returns OK after Ctrl-C or SIGTERM. Returns exit code 1 if a
// daemon ends before all daemons are ready, or dies repeatedly. Before returning, stops the workers
// with their ranks, then the controller.
Outcome RunDev(const DevOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DEV_DEV_H_

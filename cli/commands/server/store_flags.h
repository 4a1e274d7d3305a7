// Options that name the store of a controller on this machine, for commands that run its program.
#ifndef TRAINYARD_CLI_COMMANDS_SERVER_STORE_FLAGS_H_
#define TRAINYARD_CLI_COMMANDS_SERVER_STORE_FLAGS_H_

#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct StoreFlags {
  std::string postgres;
  std::string config;
};

// Adds --postgres and --config. `flags` must outlive the command.
void AddStoreFlags(CLI::App& command, StoreFlags& flags);

// Appends the flags that are set, as arguments of trainyard-controller.
void AppendStoreFlags(const StoreFlags& flags, std::vector<std::string>& words);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_SERVER_STORE_FLAGS_H_

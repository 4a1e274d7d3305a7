#include "cli/commands/server/store_flags.h"

namespace trainyard::cli {

void AddStoreFlags(CLI::App& command, StoreFlags& flags) {
  command.add_option("--postgres", flags.postgres,
                     "connection string of the controller's PostgreSQL database");
  command.add_option("--config", flags.config,
                     "controller's configuration file; read for store.postgres");
}

void AppendStoreFlags(const StoreFlags& flags, std::vector<std::string>& words) {
  if (!flags.postgres.empty()) words.insert(words.end(), {"--postgres", flags.postgres});
  if (!flags.config.empty()) words.insert(words.end(), {"--config", flags.config});
}

}  // namespace trainyard::cli

// The arguments and the result of every command.
#ifndef TRAINYARD_CLI_CONTEXT_CONTEXT_H_
#define TRAINYARD_CLI_CONTEXT_CONTEXT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/context/environment.h"
#include "cli/output/table.h"
#include "cli/process/exit_code.h"

namespace trainyard::cli {

// An exit code, or an error that the app prints and converts (process/exit_code.h).
using Outcome = absl::StatusOr<ExitCode>;

// The environment and the options shared by all commands. Data goes to console.out, everything else
// to console.err.
struct Context {
  Environment& environment;
  Console& console;
  Client& client;
  OutputFormat format = OutputFormat::kTable;
  std::vector<std::string> recipe_directories;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONTEXT_CONTEXT_H_

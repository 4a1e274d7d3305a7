// The arguments that every command gets, and the result that every command returns.
#ifndef TRAINYARD_CLI_CONTEXT_CONTEXT_H_
#define TRAINYARD_CLI_CONTEXT_CONTEXT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/context/environment.h"
#include "cli/output/terminal/table.h"
#include "cli/process/exit_code.h"

namespace trainyard::cli {

// An exit code, or an error. The app prints the error and converts it to an exit code
// (process/exit_code.h).
using Outcome = absl::StatusOr<ExitCode>;

// The environment and the shared options. Commands write data to console.out and everything else to
// console.err.
struct Context {
  Environment& environment;
  Console& console;
  Client& client;
  OutputFormat format = OutputFormat::kTable;
  std::vector<std::string> recipe_directories;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONTEXT_CONTEXT_H_

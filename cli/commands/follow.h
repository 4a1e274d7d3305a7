// Follows jobs until they end.
#ifndef TRAINYARD_CLI_COMMANDS_FOLLOW_H_
#define TRAINYARD_CLI_COMMANDS_FOLLOW_H_

#include <chrono>
#include <optional>
#include <string>

#include "cli/commands/commands.h"

namespace trainyard::cli {

struct FollowOptions {
  std::string job;
  // True to show progress on console.err; JSON output gets every update in any case.
  bool progress = true;
  std::optional<std::chrono::steady_clock::time_point> deadline;  // None: no time limit.
};

// Follows the job until it has ended, and shows its last state on console.out: exit code 0 when it
// succeeded, 5 otherwise. Stops earlier with exit code 130 after Ctrl-C and 6 at the deadline; the
// job then goes on, and console.err says how to follow it again.
Outcome FollowJob(const FollowOptions& options, Context& context);

// The deadline for the --timeout `text`, counted from now; none when it is empty. INVALID_ARGUMENT
// when it is not a duration.
absl::StatusOr<std::optional<std::chrono::steady_clock::time_point>> DeadlineFrom(
    const std::string& text);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_FOLLOW_H_

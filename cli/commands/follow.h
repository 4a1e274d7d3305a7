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
  // Progress on console.err; JSON output always gets every update.
  bool progress = true;
  std::optional<std::chrono::steady_clock::time_point> deadline;
};

// Returns when the job has ended: OK for success, 5 otherwise, with its last state on console.out.
// 130 after Ctrl-C and 6 when the deadline ran out; the job goes on, and console.err says how to
// follow it again.
Outcome FollowJob(const FollowOptions& options, Context& context);

// `text` is --timeout; empty means none. INVALID_ARGUMENT.
absl::StatusOr<std::optional<std::chrono::steady_clock::time_point>> DeadlineFrom(
    const std::string& text);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_FOLLOW_H_

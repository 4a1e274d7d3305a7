// Follows jobs until they end.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_READING_FOLLOW_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_READING_FOLLOW_H_

#include <chrono>
#include <optional>
#include <string>

#include "cli/context/context.h"

namespace trainyard::cli {

struct FollowOptions {
  std::string job;
  // True: show progress on console.err. JSON output always contains every update.
  bool progress = true;
  std::optional<std::chrono::steady_clock::time_point> deadline;  // Unset: no time limit.
};

// Follows the job until it ends, and prints its last state on console.out. The exit code is 0 if
// the job succeeded, else 5. Stops earlier with exit code 130 after Ctrl-C, or 6 at the deadline.
// If following stops early, the job continues, and console.err shows how to follow the job again.
Outcome FollowJob(const FollowOptions& options, Context& context);

// Returns the deadline for --timeout, counted from now; nullopt if `text` is empty. Returns
// INVALID_ARGUMENT if `text` is not a duration.
absl::StatusOr<std::optional<std::chrono::steady_clock::time_point>> DeadlineFrom(
    const std::string& text);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_READING_FOLLOW_H_

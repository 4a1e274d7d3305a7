// A daemon of `trainyard dev`: a child process that is restarted if it dies.
#ifndef TRAINYARD_CLI_DEV_DAEMON_H_
#define TRAINYARD_CLI_DEV_DAEMON_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/process/child_process.h"
#include "cli/process/restart_backoff.h"

namespace trainyard::cli {

class Daemon {
 public:
  using Launch = std::function<absl::StatusOr<ChildProcess>()>;
  using TimePoint = std::chrono::steady_clock::time_point;

  // Starts the daemon by calling `launch`. Each restart calls `launch` again.
  static absl::StatusOr<Daemon> Start(Launch launch, const RestartLimits& limits, TimePoint now);

  ChildProcess& process() { return process_; }

  // If the daemon's process has ended, returns an error with the last lines of its log. Does not
  // restart the daemon.
  absl::Status CheckAlive();

  // Restarts the daemon after the backoff pause if its process has ended. Call this function
  // repeatedly; it does not block. Returns a line for the user if the process has just ended or was
  // restarted, else "". Returns an error if the daemon repeatedly ended soon after its start, or if
  // it cannot be started.
  absl::StatusOr<std::string> Keep(TimePoint now);

 private:
  Daemon(Launch launch, const RestartLimits& limits, ChildProcess process, TimePoint now)
      : launch_(std::move(launch)), backoff_(limits), process_(std::move(process)), started_(now) {}

  // Sets `restart_at_`. Returns an error if the backoff allows no further restart.
  absl::StatusOr<std::string> HandleExit(TimePoint now);

  Launch launch_;
  RestartBackoff backoff_;
  ChildProcess process_;
  TimePoint started_;  // Start time of the current process, or of the last one.
  // Time of the next restart; unset while the process is running.
  std::optional<TimePoint> restart_at_;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DEV_DAEMON_H_

// A daemon of `trainyard dev`: a child process that is started again when it dies.
#ifndef TRAINYARD_CLI_DEV_DAEMON_H_
#define TRAINYARD_CLI_DEV_DAEMON_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/dev/child_process.h"
#include "cli/dev/restart_backoff.h"

namespace trainyard::cli {

class Daemon {
 public:
  using Launch = std::function<absl::StatusOr<ChildProcess>()>;
  using TimePoint = std::chrono::steady_clock::time_point;

  // Calls `launch` now and again at each restart.
  static absl::StatusOr<Daemon> Start(Launch launch, const RestartLimits& limits, TimePoint now);

  ChildProcess& process() { return process_; }

  // An error, with the last lines of the daemon's log, when its process has ended. Restarts
  // nothing.
  absl::Status CheckAlive();

  // Call repeatedly; does not block. Detects that the process has ended, and starts the daemon
  // again once the backoff pause is over. Returns a line for the user when either happened, else
  // "". An error when the daemon ended quickly too many times in a row, or cannot be started.
  absl::StatusOr<std::string> Keep(TimePoint now);

 private:
  Daemon(Launch launch, const RestartLimits& limits, ChildProcess process, TimePoint now)
      : launch_(std::move(launch)), backoff_(limits), process_(std::move(process)), started_(now) {}

  // Sets `restart_at_`; an error when the backoff allows no further restart.
  absl::StatusOr<std::string> NoticeDeath(TimePoint now);

  Launch launch_;
  RestartBackoff backoff_;
  ChildProcess process_;
  TimePoint started_;  // Of the present or last process.
  // Time of the next restart; unset while the process runs.
  std::optional<TimePoint> restart_at_;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DEV_DAEMON_H_

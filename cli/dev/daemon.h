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

  // Runs `launch` now and at each restart.
  static absl::StatusOr<Daemon> Start(Launch launch, const RestartLimits& limits, TimePoint now);

  ChildProcess& process() { return process_; }

  // An error with the last lines of its log when it has ended.
  absl::Status CheckAlive();

  // Notices a death and starts the daemon again once its pause is over. Returns a line for the user
  // when something happened, else "". An error when it has died too often or cannot be started.
  absl::StatusOr<std::string> Keep(TimePoint now);

 private:
  Daemon(Launch launch, const RestartLimits& limits, ChildProcess process, TimePoint now)
      : launch_(std::move(launch)), backoff_(limits), process_(std::move(process)), started_(now) {}

  absl::StatusOr<std::string> NoticeDeath(TimePoint now);

  Launch launch_;
  RestartBackoff backoff_;
  ChildProcess process_;
  TimePoint started_;
  // When to start again; unset while it runs.
  std::optional<TimePoint> restart_at_;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DEV_DAEMON_H_

// Decides when to restart a daemon that died. It reads no clock: times are arguments.
#ifndef TRAINYARD_CLI_PROCESS_RESTART_BACKOFF_H_
#define TRAINYARD_CLI_PROCESS_RESTART_BACKOFF_H_

#include <chrono>
#include <optional>

namespace trainyard::cli {

struct RestartLimits {
  // Pause after the first quick death. It doubles with each further quick death.
  std::chrono::milliseconds first_pause{250};
  std::chrono::milliseconds longest_pause{8000};
  // A death is quick if the daemon lived for less than this time.
  std::chrono::milliseconds quick{10000};
  // After this many quick deaths in a row, the daemon is not restarted. A death after a longer life
  // starts a new sequence and counts as its first death.
  int quick_deaths = 6;
};

class RestartBackoff {
 public:
  explicit RestartBackoff(const RestartLimits& limits) : limits_(limits) {}

  // Returns the pause before the next start of a daemon that lived for `life`; nullopt after too
  // many quick deaths in a row.
  std::optional<std::chrono::milliseconds> PauseAfter(std::chrono::milliseconds life);

 private:
  const RestartLimits limits_;
  int quick_deaths_ = 0;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_PROCESS_RESTART_BACKOFF_H_

// Decides when to restart a daemon that died. Reads no clock: the caller passes all times.
#ifndef TRAINYARD_CLI_PROCESS_RESTART_BACKOFF_H_
#define TRAINYARD_CLI_PROCESS_RESTART_BACKOFF_H_

#include <chrono>
#include <optional>

namespace trainyard::cli {

struct RestartLimits {
  // Pause after the first quick death. Each further quick death doubles the pause.
  std::chrono::milliseconds first_pause{250};
  std::chrono::milliseconds longest_pause{8000};
  // A death is quick if the daemon lived for a shorter time than this.
  std::chrono::milliseconds quick{10000};
  // After this many quick deaths in a row, the daemon is not restarted. A death after a longer life
  // is the first death of a new sequence.
  int quick_deaths = 6;
};

class RestartBackoff {
 public:
  explicit RestartBackoff(const RestartLimits& limits) : limits_(limits) {}

  // Returns how long to pause before restarting a daemon that lived for `life`; nullopt after too
  // many quick deaths in a row.
  std::optional<std::chrono::milliseconds> PauseAfter(std::chrono::milliseconds life);

 private:
  const RestartLimits limits_;
  int quick_deaths_ = 0;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_PROCESS_RESTART_BACKOFF_H_

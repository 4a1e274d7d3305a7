// Decides when to restart a daemon that died. Pure: time is an argument.
#ifndef TRAINYARD_CLI_PROCESS_RESTART_BACKOFF_H_
#define TRAINYARD_CLI_PROCESS_RESTART_BACKOFF_H_

#include <chrono>
#include <optional>

namespace trainyard::cli {

struct RestartLimits {
  // Pause after the first quick death; doubles with each further one.
  std::chrono::milliseconds first_pause{250};
  std::chrono::milliseconds longest_pause{8000};
  // A shorter life counts as a quick death.
  std::chrono::milliseconds quick{10000};
  // After this many consecutive quick deaths the daemon is not restarted. A death after a longer
  // life starts a new sequence and counts as its first.
  int quick_deaths = 6;
};

class RestartBackoff {
 public:
  explicit RestartBackoff(const RestartLimits& limits) : limits_(limits) {}

  // The pause before the next start, after a life of this length. nullopt after too many
  // consecutive quick deaths.
  std::optional<std::chrono::milliseconds> PauseAfter(std::chrono::milliseconds life);

 private:
  const RestartLimits limits_;
  int quick_deaths_ = 0;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_PROCESS_RESTART_BACKOFF_H_

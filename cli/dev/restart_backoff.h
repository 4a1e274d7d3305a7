// When a daemon that died is started again. Pure: time is an argument.
#ifndef TRAINYARD_CLI_DEV_RESTART_BACKOFF_H_
#define TRAINYARD_CLI_DEV_RESTART_BACKOFF_H_

#include <chrono>
#include <optional>

namespace trainyard::cli {

struct RestartLimits {
  // Pause after the first quick death; it doubles with each further one.
  std::chrono::milliseconds first_pause{250};
  std::chrono::milliseconds longest_pause{8000};
  // A life shorter than this ends with a quick death.
  std::chrono::milliseconds quick{10000};
  // After this many quick deaths in a row there is no further start. A death after a long life
  // starts a new row and already counts as its first.
  int quick_deaths = 6;
};

class RestartBackoff {
 public:
  explicit RestartBackoff(const RestartLimits& limits) : limits_(limits) {}

  // The pause before the next start, after a death at the end of a life of this length. Nothing
  // when there were too many quick deaths in a row.
  std::optional<std::chrono::milliseconds> PauseAfter(std::chrono::milliseconds life);

 private:
  const RestartLimits limits_;
  int quick_deaths_ = 0;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DEV_RESTART_BACKOFF_H_

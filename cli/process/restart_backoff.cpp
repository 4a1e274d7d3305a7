#include "cli/process/restart_backoff.h"

#include <algorithm>

namespace trainyard::cli {

std::optional<std::chrono::milliseconds> RestartBackoff::PauseAfter(
    std::chrono::milliseconds life) {
  // A death after a longer life is the first death of a new sequence.
  quick_deaths_ = life < limits_.quick ? quick_deaths_ + 1 : 1;
  if (quick_deaths_ >= limits_.quick_deaths) return std::nullopt;
  std::chrono::milliseconds pause = limits_.first_pause;
  for (int i = 1; i < quick_deaths_ && pause < limits_.longest_pause; ++i) pause *= 2;
  return std::min(pause, limits_.longest_pause);
}

}  // namespace trainyard::cli

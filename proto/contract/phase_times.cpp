#include "proto/contract/phase_times.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace trainyard {

void PhaseTimes::Enter(Phase phase, double now_ms) {
  const std::optional<Phase> ended = std::exchange(phase_, phase);
  const double since_ms = std::exchange(since_ms_, now_ms);
  if (!ended.has_value()) return;
  ended_ms_[static_cast<std::size_t>(*ended)] += std::max(0.0, now_ms - since_ms);
}

double PhaseTimes::Seconds(Phase phase) const {
  return ended_ms_[static_cast<std::size_t>(phase)] / 1e3;
}

}  // namespace trainyard

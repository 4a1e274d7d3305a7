// Detects stalls of the controller itself. If messages are missing during such a stall, the workers
// are not the cause.
#ifndef TRAINYARD_CONTROLLER_KERNEL_OWN_STALL_H_
#define TRAINYARD_CONTROLLER_KERNEL_OWN_STALL_H_

#include <cstdint>

namespace trainyard::controller {

// Returns true if the gap between two ticks, in steady time, shows that the controller stalled
// (because of a slow disk or a paused machine). Ticks normally run at least every 200 ms.
inline bool IsOwnStall(int64_t gap_between_ticks_ms) {
  constexpr int64_t kMostMs = 1000;
  return gap_between_ticks_ms > kMostMs;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_OWN_STALL_H_

// Detects stalls of the controller itself. Messages missing during a stall are not the workers'
// fault.
#ifndef TRAINYARD_CONTROLLER_KERNEL_OWN_STALL_H_
#define TRAINYARD_CONTROLLER_KERNEL_OWN_STALL_H_

#include <cstdint>

namespace trainyard::controller {

// True if the gap between two ticks, in steady time, shows that the controller stalled (a slow
// disk, a paused machine). Ticks normally run at least every 200 ms.
inline bool IsOwnStall(int64_t gap_between_ticks_ms) {
  constexpr int64_t kMostMs = 1000;
  return gap_between_ticks_ms > kMostMs;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_OWN_STALL_H_

// Detects stalls of the controller itself, during which missing messages are not the workers'
// fault.
#ifndef TRAINYARD_CONTROLLER_KERNEL_OWN_STALL_H_
#define TRAINYARD_CONTROLLER_KERNEL_OWN_STALL_H_

#include <cstdint>

namespace trainyard::controller {

// Returns true if the gap between two ticks (steady time) shows that the controller stalled, for
// example because of a slow disk or a paused machine. Normally, the gap is at most 200 ms.
inline bool IsOwnStall(int64_t gap_between_ticks_ms) {
  constexpr int64_t kMostMs = 1000;
  return gap_between_ticks_ms > kMostMs;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_OWN_STALL_H_

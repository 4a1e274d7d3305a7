// Stalls of the controller itself. What it did not receive meanwhile is nobody's fault.
#ifndef TRAINYARD_CONTROLLER_KERNEL_OWN_STALL_H_
#define TRAINYARD_CONTROLLER_KERNEL_OWN_STALL_H_

#include <cstdint>

namespace trainyard::controller {

// True for a longer gap than ticks explain, which come every 200 ms at least: the controller
// stalled (a slow disk, a paused machine). The gap is steady time.
inline bool IsOwnStall(int64_t gap_between_ticks_ms) {
  constexpr int64_t kMostMs = 1000;
  return gap_between_ticks_ms > kMostMs;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_OWN_STALL_H_

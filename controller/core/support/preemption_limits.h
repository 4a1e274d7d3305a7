// Limits of preemption (schedule/preemption.h).
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_PREEMPTION_LIMITS_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_PREEMPTION_LIMITS_H_

#include <cstdint>

namespace trainyard::controller {

struct PreemptionLimits {
  // A job preempts others only after this wait, and only if it would otherwise wait as long again.
  int64_t wait_ms = 600'000;
  // An attempt is preempted only after this time, so that it has done more work than it costs to
  // restart.
  int64_t run_ms = 600'000;
  // A job is preempted at most this often within the window.
  int per_window = 3;
  int64_t window_ms = 86'400'000;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_PREEMPTION_LIMITS_H_

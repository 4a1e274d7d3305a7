// Detects shims that are late to report the end of their rank.
#ifndef TRAINYARD_WORKER_CORE_SHIM_WATCH_H_
#define TRAINYARD_WORKER_CORE_SHIM_WATCH_H_

#include <map>

#include "proto/support/clock.h"
#include "worker/core/attempts.h"

namespace trainyard::worker {

class ShimWatch {
 public:
  // A shim kills processes left by its rank for 2 s before it reports.
  static constexpr Timestamp kWakeAfterMs = 4'000;
  static constexpr Timestamp kKillAfterMs = 10'000;

  enum class Step {
    kNone,
    kWake,  // SIGCONT, once: the shim may have been stopped.
    kKill,  // SIGKILL: the shim was stopped again, or hangs.
  };

  // Returns the step due now for the shim of `rank`. `overdue` was just observed (rank_process.h).
  // `steady_ms` is steady time.
  Step Note(const RankKey& rank, bool overdue, Timestamp steady_ms);

  void Forget(const AttemptKey& attempt);

 private:
  struct Overdue {
    Timestamp since_ms = 0;
    bool woken = false;
  };

  std::map<RankKey, Overdue> overdue_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_SHIM_WATCH_H_

// Detects shims that take too long to report the end of their rank.
#ifndef TRAINYARD_WORKER_CORE_SHIM_WATCH_H_
#define TRAINYARD_WORKER_CORE_SHIM_WATCH_H_

#include <map>

#include "proto/support/clock.h"
#include "worker/core/attempts.h"

namespace trainyard::worker {

class ShimWatch {
 public:
  // A shim first kills the processes left by its rank, which takes up to 2 s, and then reports.
  // kWakeAfterMs must be longer than that.
  static constexpr Timestamp kWakeAfterMs = 4'000;
  static constexpr Timestamp kKillAfterMs = 10'000;

  enum class Step {
    kNone,
    kWake,  // Send SIGCONT once, because the shim may be stopped.
    kKill,  // Send SIGKILL, because the shim was stopped again or hangs.
  };

  // Returns the step that is due now for the shim of `rank`. `overdue` is the value just observed
  // (rank_process.h). `steady_ms` is the time of a clock that never goes back.
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

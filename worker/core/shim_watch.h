// Shims that should have reported the end of their rank, and have not.
#ifndef TRAINYARD_WORKER_CORE_SHIM_WATCH_H_
#define TRAINYARD_WORKER_CORE_SHIM_WATCH_H_

#include <map>

#include "proto/support/clock.h"
#include "worker/core/attempts.h"

namespace trainyard::worker {

class ShimWatch {
 public:
  // A shim kills what its rank left for 2 s before it reports.
  static constexpr Timestamp kWakeAfterMs = 4'000;
  static constexpr Timestamp kKillAfterMs = 10'000;

  enum class Step {
    kNone,
    kWake,  // SIGCONT, once: it may have been stopped.
    kKill,  // SIGKILL: it was stopped again, or hangs.
  };

  // Due for the shim of `rank` now. `overdue`: as just observed (rank_process.h). Steady time.
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

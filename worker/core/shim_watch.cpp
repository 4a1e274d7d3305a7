#include "worker/core/shim_watch.h"

namespace trainyard::worker {

ShimWatch::Step ShimWatch::Note(const RankKey& rank, bool overdue, Timestamp steady_ms) {
  if (!overdue) {
    overdue_.erase(rank);
    return Step::kNone;
  }
  Overdue& shim = overdue_.try_emplace(rank, Overdue{steady_ms}).first->second;
  const Timestamp age_ms = steady_ms - shim.since_ms;
  if (age_ms >= kKillAfterMs) return Step::kKill;
  if (age_ms < kWakeAfterMs || shim.woken) return Step::kNone;
  shim.woken = true;
  return Step::kWake;
}

void ShimWatch::Forget(const AttemptKey& attempt) {
  std::erase_if(overdue_, [&](const auto& shim) { return shim.first.attempt == attempt; });
}

}  // namespace trainyard::worker

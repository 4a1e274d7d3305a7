#include "worker/core/shim_watch.h"

namespace trainyard::worker {

ShimWatch::Step ShimWatch::Note(const RankKey& rank, bool overdue, Timestamp steady_ms) {
  if (!overdue) {
    overdue_since_ms_.erase(rank);
    return Step::kNone;
  }
  const Timestamp since_ms = overdue_since_ms_.try_emplace(rank, steady_ms).first->second;
  if (steady_ms - since_ms >= kKillAfterMs) return Step::kKill;
  return steady_ms - since_ms >= kWakeAfterMs ? Step::kWake : Step::kNone;
}

void ShimWatch::Forget(const AttemptKey& attempt) {
  std::erase_if(overdue_since_ms_,
                [&](const auto& overdue) { return overdue.first.attempt == attempt; });
}

}  // namespace trainyard::worker

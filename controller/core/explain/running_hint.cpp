#include "controller/core/explain/running_hint.h"

#include "controller/core/explain/log_parser_hint.h"
#include "controller/core/explain/save_hint.h"
#include "controller/core/health/straggler_watch.h"
#include "controller/core/observations/group_wait.h"
#include "controller/core/observations/left_ranks.h"
#include "controller/core/verdict/heal_policy.h"

namespace trainyard::controller {

std::optional<v1::PendingReason> RunningHint(const ClusterState& state,
                                             const Observations& observations,
                                             const JobEntry& entry, Timestamp now) {
  if (auto reason = WhyHealing(state, entry)) return reason;
  if (auto reason = WhyRanksStay(observations, entry, now)) return reason;
  if (auto reason = WhyStalled(observations, entry, now)) return reason;
  if (auto reason = WhyNoCheckpoint(observations, entry)) return reason;
  if (auto reason = WhySlow(observations, entry)) return reason;
  return WhyNoMetrics(observations, entry);
}

}  // namespace trainyard::controller

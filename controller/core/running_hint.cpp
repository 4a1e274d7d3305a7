#include "controller/core/running_hint.h"

#include "controller/core/group_wait.h"
#include "controller/core/heal_policy.h"
#include "controller/core/left_ranks.h"
#include "controller/core/log_parser_hint.h"
#include "controller/core/save_hint.h"
#include "controller/core/straggler_watch.h"

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

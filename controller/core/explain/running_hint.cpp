#include "controller/core/explain/running_hint.h"

#include "controller/core/explain/job_health.h"
#include "controller/core/explain/log_parser_hint.h"
#include "controller/core/verdict/heal_policy.h"

namespace trainyard::controller {
namespace {

v1::PendingCode CodeOf(const v1::HealthFinding& finding) {
  switch (finding.word()) {
    case v1::HEALTH_WORD_STALLED:
      return v1::PENDING_CODE_STALLED;
    case v1::HEALTH_WORD_DIVERGING:
      return v1::PENDING_CODE_DIVERGING;
    case v1::HEALTH_WORD_LOOPING:
      return v1::PENDING_CODE_LOOPING;
    case v1::HEALTH_WORD_UNSAVED:
      return v1::PENDING_CODE_NO_CHECKPOINT;
    case v1::HEALTH_WORD_SLOW:
      return finding.ranks().empty() ? v1::PENDING_CODE_SLOW : v1::PENDING_CODE_SLOW_RANK;
    default:
      return v1::PENDING_CODE_UNSPECIFIED;
  }
}

// Returns nullopt for findings that need no attention.
std::optional<v1::PendingReason> ReasonOf(const v1::JobHealth& health) {
  if (health.word() <= v1::HEALTH_WORD_HEALED) return std::nullopt;
  const v1::HealthFinding& worst = health.findings(0);
  v1::PendingReason reason;
  reason.set_code(CodeOf(worst));
  reason.set_message(worst.message());
  reason.set_advice(worst.advice());
  return reason;
}

}  // namespace

std::optional<v1::PendingReason> RunningHint(const ClusterState& state,
                                             const Observations& observations,
                                             const JobEntry& entry, Timestamp now) {
  if (auto reason = WhyHealing(state, entry)) return reason;
  if (auto reason = ReasonOf(HealthOf(state, observations, entry, now))) return reason;
  return WhyNoMetrics(observations, entry);
}

}  // namespace trainyard::controller

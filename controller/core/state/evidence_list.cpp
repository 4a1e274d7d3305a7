#include "controller/core/state/evidence_list.h"

#include <algorithm>

namespace trainyard::controller {

bool CountsAsFailure(const v1::NodeEvidence& evidence) {
  return evidence.fault() != v1::NODE_FAULT_START && evidence.fault() != v1::NODE_FAULT_SLOW;
}

void AddEvidence(const v1::NodeEvidence& evidence, v1::Node& node) {
  *node.add_evidence() = evidence;
  if (node.evidence_size() <= kEvidenceKept) return;
  // Some evidence, such as slow ranks, does not count towards a quarantine. It must not displace
  // evidence that counts.
  const auto least = std::ranges::find_if_not(node.evidence(), CountsAsFailure);
  const auto oldest = least == node.evidence().end() ? node.evidence().begin() : least;
  node.mutable_evidence()->erase(oldest);
}

void EndQuarantine(Timestamp now, v1::Node& node) {
  node.set_released_time_ms(now);
  if (!node.health().has_quarantine()) return;
  v1::NodeHealth& health = *node.mutable_health();
  if (health.reason() == health.quarantine().reason()) health.set_reason(health.reported());
  health.clear_quarantine();
  if (health.failed_starts() == 0 && health.reported().empty()) node.clear_health();
}

}  // namespace trainyard::controller

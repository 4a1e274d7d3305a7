#include "controller/core/state/nodes/evidence_list.h"

#include <algorithm>

namespace trainyard::controller {

bool CountsAsFailure(const v1::NodeEvidence& evidence) {
  return evidence.fault() != v1::NODE_FAULT_START && evidence.fault() != v1::NODE_FAULT_SLOW;
}

bool IsOfLink(const v1::Node& node) {
  bool has_any = false;
  for (const v1::NodeEvidence& evidence : node.evidence()) {
    if (!CountsAsFailure(evidence) || evidence.time_ms() <= node.released_time_ms()) continue;
    if (evidence.fault() != v1::NODE_FAULT_LINK) return false;
    has_any = true;
  }
  return has_any;
}

void BlameLink(Timestamp since, v1::Node& node) {
  constexpr char kProof[] =
      "; the worker reconnected without a restart, so the node's network link had failed";
  bool is_changed = false;
  for (v1::NodeEvidence& evidence : *node.mutable_evidence()) {
    const bool is_open = evidence.time_ms() >= since && !evidence.worker_restarted();
    if (evidence.fault() != v1::NODE_FAULT_LOST || !is_open) continue;
    evidence.set_fault(v1::NODE_FAULT_LINK);
    evidence.mutable_reason()->append(kProof);
    is_changed = true;
  }
  if (!is_changed || !node.health().has_quarantine() || !IsOfLink(node)) return;
  v1::NodeHealth& health = *node.mutable_health();
  const bool is_shown = health.reason() == health.quarantine().reason();
  health.mutable_quarantine()->mutable_reason()->append(kProof);
  if (is_shown) health.set_reason(health.quarantine().reason());
}

void NoteRestart(v1::Node& node) {
  for (v1::NodeEvidence& evidence : *node.mutable_evidence()) evidence.set_worker_restarted(true);
}

void AddEvidence(const v1::NodeEvidence& evidence, v1::Node& node) {
  *node.add_evidence() = evidence;
  if (node.evidence_size() <= kEvidenceKept) return;
  // Drop the oldest evidence that does not count towards a quarantine, such as a slow rank. If all
  // evidence counts, drop the oldest.
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

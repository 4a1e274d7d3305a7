// Evidence against a node, as the state keeps it.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_EVIDENCE_LIST_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_EVIDENCE_LIST_H_

#include "proto/support/clock.h"
#include "trainyard/v1/node.pb.h"

namespace trainyard::controller {

// Pieces of evidence that a node keeps.
inline constexpr int kEvidenceKept = 16;

// Evidence that takes ranks off a node when there is enough of it. A start that fails costs no
// training, and its own wait keeps ranks off (node_health.h); a slow rank still trains.
bool Counts(const v1::NodeEvidence& evidence);

// Apply: adds a piece of evidence, and ends a quarantine.
void AddEvidence(const v1::NodeEvidence& evidence, v1::Node& node);
void EndQuarantine(Timestamp now, v1::Node& node);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_EVIDENCE_LIST_H_

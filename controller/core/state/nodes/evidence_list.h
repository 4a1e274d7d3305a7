// Evidence against a node, as kept in the state.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_NODES_EVIDENCE_LIST_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_NODES_EVIDENCE_LIST_H_

#include "proto/support/clock.h"
#include "trainyard/v1/node.pb.h"

namespace trainyard::controller {

// Maximum number of evidence records per node.
inline constexpr int kEvidenceKept = 16;

// Returns true for evidence that counts towards a quarantine of the node. A failed start does not
// count: it costs no training time, and its own backoff already prevents new ranks on the node
// (node_health.h). A slow rank does not count, because it still trains.
bool CountsAsFailure(const v1::NodeEvidence& evidence);

// Returns true if all evidence that counts towards a quarantine is about the node's link. Ignores
// evidence from before the newest release.
bool IsOfLink(const v1::Node& node);

// Called when a worker reconnects. The reconnect shows that the link failed, but the node was not
// lost. Changes evidence of a loss since `since` to evidence of a failed link. Does not change
// evidence that NoteRestart has marked. Used only by Apply.
void BlameLink(Timestamp since, v1::Node& node);

// Marks all evidence as older than a restart of the node's worker. Used only by Apply.
void NoteRestart(v1::Node& node);

// These functions add an evidence record and end a quarantine. Used only by Apply.
void AddEvidence(const v1::NodeEvidence& evidence, v1::Node& node);
void EndQuarantine(Timestamp now, v1::Node& node);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_NODES_EVIDENCE_LIST_H_

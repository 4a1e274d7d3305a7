// Judges attempts that are saving or evaluating: finds evidence that such an attempt lost its ranks
// on a node without a heartbeat. Such phases have no steps to measure, so their duration is
// compared with the duration of earlier phases of the job.
#ifndef TRAINYARD_CONTROLLER_CORE_HEALTH_PHASE_EVIDENCE_H_
#define TRAINYARD_CONTROLLER_CORE_HEALTH_PHASE_EVIDENCE_H_

#include <string>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Returns evidence about `node_id`, which sends no heartbeat, as the end of a sentence. Empty if
// the evidence is insufficient. The evidence is sufficient if
// - no rank of the gang has exited,
// - every rank on another node runs, on a node with settled reports (start_evidence.h),
// - each of these ranks made no progress for longer than its limit, which is
//   max(kShortestPhaseLimitMs, 3 x the longest earlier phase of the kind) for a save or evaluation,
//   and max(lost_after_ms, LongestPauseMs) for a step,
// - at least one of these ranks saves or evaluates, and
// - every rank's last progress is at most its limit older than the node's last heartbeat. A rank
//   that stalled earlier waits for something else.
// The watchdog also restarts such a gang.
std::string EvidenceOfLostPhase(const Observations& observations, const CoreOptions& options,
                                const JobEntry& entry, const std::string& node_id, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_PHASE_EVIDENCE_H_

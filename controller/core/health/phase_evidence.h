// Evidence that an attempt has lost its ranks on a node without a heartbeat while it saves or
// evaluates. Such a phase has no steps to measure, so its time is compared with the earlier phases
// of the job.
#ifndef TRAINYARD_CONTROLLER_CORE_HEALTH_PHASE_EVIDENCE_H_
#define TRAINYARD_CONTROLLER_CORE_HEALTH_PHASE_EVIDENCE_H_

#include <string>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// The evidence about `node_id`, which sends no heartbeat, as the end of a sentence; empty while
// there is not enough. Every rank of the live attempt that runs on another node is seen (by reports
// that have settled), and made no progress for longer than its phase may take: a save or an
// evaluation max(kShortestPhaseLimitMs, 3 x the longest earlier one of the job), a step as stall.h
// says. At least one of them saves or evaluates. The watchdog would restart such a gang, too.
// Nothing when the limit of a phase is not known, or when the peers stopped so long before the
// node's last heartbeat that they wait for something else.
std::string EvidenceOfLostPhase(const Observations& observations, const CoreOptions& options,
                                const JobEntry& entry, const std::string& node_id, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_PHASE_EVIDENCE_H_

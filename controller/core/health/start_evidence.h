// Judges attempts that have not trained yet: finds evidence that such an attempt lost its ranks on
// a node without a heartbeat. A start has no steps to measure, so its duration is compared with
// that of earlier starts of the job.
#ifndef TRAINYARD_CONTROLLER_CORE_HEALTH_START_EVIDENCE_H_
#define TRAINYARD_CONTROLLER_CORE_HEALTH_START_EVIDENCE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns true if the node's reports have arrived without a pause for so long that no report can
// still be delayed by a broken or slow stream. Only in this case does missing progress of the
// node's ranks mean a stall.
bool HasSettledReports(const Observations& observations, const CoreOptions& options,
                       const std::string& node_id, Timestamp now);

// Returns the duration of the job's longest earlier start in milliseconds. A start lasts from the
// launch of the programs to the first step, as reported by the ranks. If the newest attempt resumes
// from a checkpoint, considers only earlier starts from checkpoints. Returns nullopt if there is no
// such start.
std::optional<int64_t> LongestStartMs(const v1::Job& job);

// Returns evidence that the live attempt lost its ranks on `node_id`, which sends no heartbeat, as
// the end of a sentence. Empty if the evidence is insufficient. Each of these facts is sufficient:
// - The node went offline before it received the start order.
// - For start_lease_ms there was no sign that the node received the start order.
// - Peers on nodes with settled reports are in the phases init and load, and made no progress for
//   longer than a start may take. This time is start_lease_ms or, if all ranks have started and the
//   job has started before, max(shortest_start_limit_ms, 3 x its longest start).
// A rank that trains, or that reports no phase, is no evidence.
std::string EvidenceOfLostStart(const Observations& observations, const CoreOptions& options,
                                const JobEntry& entry, const std::string& node_id, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_START_EVIDENCE_H_

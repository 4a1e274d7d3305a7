// Evidence that an attempt lost its ranks on a node without a heartbeat before it trained. A start
// has no steps to measure, so its time is compared with earlier starts of the job.
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

// True if the node's reports have arrived without a pause for so long that none of the reports
// delayed by a broken or slow stream is still missing. Only then does missing progress of the
// node's ranks mean a stall.
bool HasSettledReports(const Observations& observations, const CoreOptions& options,
                       const std::string& node_id, Timestamp now);

// Milliseconds of the longest earlier start of the job, from the start of its programs to the first
// step, as reported by its ranks. If the newest attempt resumes from a checkpoint, only earlier
// starts from checkpoints count. nullopt if there is no such start.
std::optional<int64_t> LongestStartMs(const v1::Job& job);

// Evidence that the live attempt lost its ranks on `node_id`, which sends no heartbeat, as the end
// of a sentence. Empty if it is insufficient. Sufficient evidence is one of:
// - The node went offline before it received the start order.
// - For start_lease_ms there was no sign that the node received the start order.
// - Peers on nodes with settled reports are in the phases init and load, and made no progress for
//   longer than a start may take: start_lease_ms or, once all ranks have started and the job has
//   started before, max(shortest_start_limit_ms, 3 x its longest start).
// A rank that trains, or that reports no phase, is no evidence.
std::string EvidenceOfLostStart(const Observations& observations, const CoreOptions& options,
                                const JobEntry& entry, const std::string& node_id, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_START_EVIDENCE_H_

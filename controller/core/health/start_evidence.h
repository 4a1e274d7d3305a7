// Evidence that an attempt has lost its ranks on a node without a heartbeat before it trained. A
// start has no steps to measure, so its time is compared with the earlier starts of the job.
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

// True when the node's reports have come without a pause until now and for long enough that those
// which a broken or slow stream had held back are all in: only then a stall of its ranks is one.
bool HasSettledReports(const Observations& observations, const CoreOptions& options,
                       const std::string& node_id, Timestamp now);

// Milliseconds that the longest earlier start of the job took, from the start of its programs to
// the first step, as its ranks reported it; nullopt while no attempt has trained.
std::optional<int64_t> LongestStartMs(const v1::Job& job);

// The evidence that the live attempt has lost its ranks on `node_id`, which sends no heartbeat, as
// the end of a sentence; empty while there is not enough. Either of:
// - Nothing has shown for start_lease_ms that the node took the order to start its ranks.
// - Peers on nodes with settled reports are in the phases init and load, and made no progress for
//   longer than the start may take: start_lease_ms; once all ranks have started and the job has
//   started before, max(shortest_start_limit_ms, 3 x its longest start).
// A rank that trains, or that names no phase, is no evidence.
std::string EvidenceOfLostStart(const Observations& observations, const CoreOptions& options,
                                const JobEntry& entry, const std::string& node_id, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_START_EVIDENCE_H_

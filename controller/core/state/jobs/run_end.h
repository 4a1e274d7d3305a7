// The latest ends of live attempts, as far as the state shows them (ClusterState::run_ends).
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_JOBS_RUN_END_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_JOBS_RUN_END_H_

#include <cstdint>

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Returns the end of the job's live attempt, which must exist.
RunEnd RunEndOf(const JobEntry& entry);

// Returns the end of a live attempt: that of its grace if it was asked to stop, and otherwise the
// earlier one of its time limit and `steps_end_ms`, the end of its last step (0: unknown). Returns
// 0 if no end is known.
Timestamp EarlierEnd(const RunEnd& run, Timestamp steps_end_ms);

// Updates state.run_ends after a change of the job, which need not be in the state.
void UpdateRunEnd(int64_t job_id, ClusterState& state);
// Updates state.run_ends after a change of all times in the state.
void UpdateRunEnds(ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_JOBS_RUN_END_H_

// Reports about a job or an attempt that arrive after its end.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_LATE_REPORTS_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_LATE_REPORTS_H_

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Returns true if a checkpoint of the ended job may exist whose report has not arrived. Workers
// send facts before telemetry, so the end of a job can be known before its last checkpoint. A
// worker forgets an attempt after all its telemetry is stored, usually within two seconds. The wait
// for a disconnected worker is limited to CoreOptions::return_within_ms, and every wait to
// CoreOptions::lease_ms, because a process that survives SIGKILL keeps its files open.
bool MayReportCheckpoints(const JobEntry& entry, const Observations& observations,
                          const CoreOptions& options, Timestamp now);

// Returns true if the next attempt of a waiting job should not be placed yet, because the newest
// attempt may have saved a checkpoint whose report has not arrived. Without this wait, the job
// would repeat the steps before that checkpoint. Applies to an attempt that was asked to save, and
// to an attempt on a node whose reports paused during the attempt and began again less than
// suspect_after_ms before its end, or later: the worker may still send the telemetry of the pause.
// The wait ends when the workers have forgotten the attempt, usually within two seconds. It lasts
// at most CoreOptions::return_within_ms from the end of the attempt or the start of the controller.
bool AwaitsCheckpoints(const JobEntry& entry, const Observations& observations,
                       const CoreOptions& options, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_LATE_REPORTS_H_

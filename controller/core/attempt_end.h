// The end of an attempt whose processes are gone: its job ends, or it recovers.
#ifndef TRAINYARD_CONTROLLER_CORE_ATTEMPT_END_H_
#define TRAINYARD_CONTROLLER_CORE_ATTEMPT_END_H_

#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Events that end the job's live attempt: AttemptEnded and, unless the job continues, JobEnded. A
// pause that lost steps also raises an alert.
std::vector<v1::Event> AttemptEndEvents(const Observations& observations, const JobEntry& entry,
                                        Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_ATTEMPT_END_H_

// Ends an attempt whose processes have all ended: the attempt's job either ends or recovers.
#ifndef TRAINYARD_CONTROLLER_CORE_ATTEMPT_END_H_
#define TRAINYARD_CONTROLLER_CORE_ATTEMPT_END_H_

#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Returns the events that end the job's live attempt: AttemptEnded and, unless the job continues,
// JobEnded. If a pause or a yield lost steps, an alert
// is also raised.
std::vector<v1::Event> AttemptEndEvents(const Observations& observations, const JobEntry& entry,
                                        Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_ATTEMPT_END_H_

// Observes the learning rates that the reporting rank of an attempt writes.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_OBSERVE_RATE_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_OBSERVE_RATE_H_

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/contract/attempt_key.h"
#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::controller {

// Adds the learning rate of the record, if it has one, to the rates of the job. If the job
// continues a checkpoint of another job, the rates of that job count as earlier rates. Sets
// AttemptObservation::rate_change if the rate changed at the resume.
void ObserveRate(const v1::MetricsRecord& metrics, const AttemptKey& key, const ClusterState& state,
                 Observations& observations);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_OBSERVE_RATE_H_

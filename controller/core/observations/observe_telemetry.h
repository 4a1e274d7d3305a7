// Updates the observations when telemetry of ranks arrives.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_OBSERVE_TELEMETRY_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_OBSERVE_TELEMETRY_H_

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::controller {

// Records the progress contained in a telemetry batch of one rank.
void ObserveTelemetry(const v1::TelemetryBatch& batch, const ClusterState& state,
                      Observations& observations);

// Removes the metrics from a batch that does not come from the reporting rank, so that a curve
// never mixes several ranks' values of one step. Call ObserveTelemetry with the batch first.
void KeepReportingRanksMetrics(const ClusterState& state, const Observations& observations,
                               v1::TelemetryBatch& batch);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_OBSERVE_TELEMETRY_H_

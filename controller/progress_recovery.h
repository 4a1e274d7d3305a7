// Progress of jobs as it was before the controller was restarted.
#ifndef TRAINYARD_CONTROLLER_PROGRESS_RECOVERY_H_
#define TRAINYARD_CONTROLLER_PROGRESS_RECOVERY_H_

#include "controller/core/cluster_state.h"
#include "controller/core/observations.h"
#include "controller/store/metric_store.h"

namespace trainyard::controller {

// Fills observations.progress of running and recent jobs from their newest stored metrics. Progress
// that cannot be read is left out: it is only shown to people.
void RecoverProgress(const ClusterState& state, MetricStore& metrics, Observations& observations);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_PROGRESS_RECOVERY_H_

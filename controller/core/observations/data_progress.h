// Progress of data jobs, from the metrics that trainyard-data writes.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_DATA_PROGRESS_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_DATA_PROGRESS_H_

#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::controller {

// Updates the progress of a data job. Values that are not finite or below 0 are ignored, because
// telemetry is untrusted input.
void ObserveDataProgress(const v1::MetricsRecord& metrics, v1::Progress& progress);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_DATA_PROGRESS_H_

// Progress of a job from its stored metrics: observations are lost at a restart.
#ifndef TRAINYARD_CONTROLLER_API_STORED_PROGRESS_H_
#define TRAINYARD_CONTROLLER_API_STORED_PROGRESS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "controller/store/metric_store.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Nothing when the job has stored no step. Errors: as the store says. Any thread; takes
// milliseconds.
absl::StatusOr<std::optional<v1::Progress>> StoredProgress(const v1::Job& job,
                                                           MetricStore& metrics);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_STORED_PROGRESS_H_

// Progress and losses of a job from its stored metrics, because observations are lost at a restart.
#ifndef TRAINYARD_CONTROLLER_API_STORED_PROGRESS_H_
#define TRAINYARD_CONTROLLER_API_STORED_PROGRESS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/store/metrics/metric_store.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// nullopt if no step of the job is stored. Returns errors of the store. Any thread; takes
// milliseconds.
absl::StatusOr<std::optional<v1::Progress>> StoredProgress(const v1::Job& job,
                                                           MetricStore& metrics);

// Latest losses of a job by step, oldest first, and the attempt that reported them.
struct StoredLosses {
  int64_t attempt = 0;
  std::vector<std::pair<int64_t, double>> losses;
};

// The losses of the newest steps, enough to fill the window of the job's loss guard; empty if no
// loss is stored. Errors and threads as for StoredProgress.
absl::StatusOr<StoredLosses> ReadStoredLosses(const v1::Job& job, MetricStore& metrics);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_STORED_PROGRESS_H_

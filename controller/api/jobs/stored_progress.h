// Reads a job's progress and losses from its stored metrics. Needed after a restart, because a
// restarted controller has no observations.
#ifndef TRAINYARD_CONTROLLER_API_JOBS_STORED_PROGRESS_H_
#define TRAINYARD_CONTROLLER_API_JOBS_STORED_PROGRESS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/observations/rate_curve.h"
#include "controller/store/metrics/metric_store.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns the progress, or nullopt if no step of the job is stored. Returns errors of the store.
// Takes milliseconds. May be called on any thread.
absl::StatusOr<std::optional<v1::Progress>> StoredProgress(const v1::Job& job,
                                                           MetricStore& metrics);

// The newest losses of a job with their steps, oldest first, and the attempt that reported them.
struct StoredLosses {
  int64_t attempt = 0;
  std::vector<std::pair<int64_t, double>> losses;
};

// Returns the losses of the newest steps, enough to fill the window of the job's loss guard. Empty
// if no loss is stored. Errors and threads: see StoredProgress.
absl::StatusOr<StoredLosses> ReadStoredLosses(const v1::Job& job, MetricStore& metrics);

// The learning rates of a job, and the newest attempt that reported metrics.
struct StoredRates {
  int64_t attempt = 0;
  RateCurve rates;
};

// Returns the learning rates of the whole run, without repeated steps. Uses the lr_factor of the
// job's attempts. Empty if no rate is stored. Errors and threads: see StoredProgress.
absl::StatusOr<StoredRates> ReadStoredRates(const v1::Job& job, MetricStore& metrics);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_JOBS_STORED_PROGRESS_H_

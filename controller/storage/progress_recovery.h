// Restores the progress, the latest losses and the learning rates of jobs from the stored metrics
// after a restart of the controller.
#ifndef TRAINYARD_CONTROLLER_STORAGE_PROGRESS_RECOVERY_H_
#define TRAINYARD_CONTROLLER_STORAGE_PROGRESS_RECOVERY_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "controller/api/jobs/stored_progress.h"
#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/store/metrics/metric_store.h"

namespace trainyard::controller {

// The maximum number of jobs without a live attempt whose progress is read at the start of the
// controller. The newest jobs are read.
inline constexpr int kRecentJobs = 50;

// Returns running and recent jobs, newest first. Sets only the id, train.steps, evaluation.sets,
// the numbers and factors of the attempts and, for running jobs, the settings of the loss guard.
std::vector<v1::Job> JobsToRecover(const ClusterState& state);

struct RecoveredJob {
  v1::Job job;  // As returned by JobsToRecover.
  v1::Progress progress;
  StoredLosses losses;  // Running jobs only.
  StoredRates rates;
};

// Merges the recovered values into `observations`. Values observed since the restart take
// precedence over recovered values.
void MergeRecovered(const RecoveredJob& recovered, Observations& observations);

// Reads the newest stored metrics of jobs on its own thread. Each job takes a few milliseconds, and
// the controller's first request must not wait for these reads. Skips jobs that cannot be read.
// Skipping is harmless: progress is only displayed, and the loss guard's window fills again.
class ProgressRecovery {
 public:
  // Called on the recovery thread.
  using Found = std::function<void(const RecoveredJob& recovered)>;

  // `metrics` must outlive this object.
  ProgressRecovery(std::vector<v1::Job> jobs, MetricStore& metrics, Found found);
  // Finishes the job that is being read, and then ends the thread.
  ~ProgressRecovery();
  ProgressRecovery(const ProgressRecovery&) = delete;
  ProgressRecovery& operator=(const ProgressRecovery&) = delete;

 private:
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORAGE_PROGRESS_RECOVERY_H_

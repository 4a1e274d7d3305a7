// After a restart of the controller, restores the progress and the latest losses of jobs from the
// stored metrics.
#ifndef TRAINYARD_CONTROLLER_PROGRESS_RECOVERY_H_
#define TRAINYARD_CONTROLLER_PROGRESS_RECOVERY_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "controller/api/stored_progress.h"
#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/store/metrics/metric_store.h"

namespace trainyard::controller {

// When the controller starts, it reads the progress of at most this many jobs without a live
// attempt, newest first.
inline constexpr int kRecentJobs = 50;

// Returns running and recent jobs, newest first. Only the id and train.steps are set, and for
// running jobs also the settings that the loss guard needs.
std::vector<v1::Job> JobsToRecover(const ClusterState& state);

struct RecoveredJob {
  v1::Job job;  // The job as returned by JobsToRecover.
  v1::Progress progress;
  StoredLosses losses;  // Running jobs only.
};

// Merges the recovered values into `observations`. Values observed since the restart take
// precedence.
void MergeRecovered(const RecoveredJob& recovered, Observations& observations);

// Reads the newest stored metrics of jobs. It has its own thread, because each job takes a few
// milliseconds and the first request must not wait for that. Jobs that cannot be read are skipped.
// This is harmless: progress is only displayed, and the loss guard's window fills again.
class ProgressRecovery {
 public:
  // Called on the recovery thread.
  using Found = std::function<void(const RecoveredJob& recovered)>;

  // `metrics` must outlive this object.
  ProgressRecovery(std::vector<v1::Job> jobs, MetricStore& metrics, Found found);
  // Finishes the job that is being read, then ends the thread.
  ~ProgressRecovery();
  ProgressRecovery(const ProgressRecovery&) = delete;
  ProgressRecovery& operator=(const ProgressRecovery&) = delete;

 private:
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_PROGRESS_RECOVERY_H_

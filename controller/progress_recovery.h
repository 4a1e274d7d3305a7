// Restores the progress and latest losses of jobs after a restart of the controller.
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

// Maximum number of jobs without a live attempt whose progress is read when the controller starts,
// newest first.
inline constexpr int kRecentJobs = 50;

// Running and recent jobs, newest first. Each has its id and train.steps; running jobs also have
// the settings that the loss guard needs.
std::vector<v1::Job> JobsToRecover(const ClusterState& state);

struct RecoveredJob {
  v1::Job job;  // The job as returned by JobsToRecover.
  v1::Progress progress;
  StoredLosses losses;  // Running jobs only.
};

// Merges the recovered values into `observations`. Values observed since the restart take
// precedence.
void MergeRecovered(const RecoveredJob& recovered, Observations& observations);

// Reads the newest stored metrics of jobs on its own thread: each job takes a few milliseconds,
// which must not delay the first request. Jobs that cannot be read are skipped: progress is only
// displayed, and the loss guard's window refills.
class ProgressRecovery {
 public:
  // Called on the recovery thread.
  using Found = std::function<void(const RecoveredJob& recovered)>;

  // `metrics` must outlive this object.
  ProgressRecovery(std::vector<v1::Job> jobs, MetricStore& metrics, Found found);
  // Ends the thread after the job that is being read.
  ~ProgressRecovery();
  ProgressRecovery(const ProgressRecovery&) = delete;
  ProgressRecovery& operator=(const ProgressRecovery&) = delete;

 private:
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_PROGRESS_RECOVERY_H_

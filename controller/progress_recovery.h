// Progress and newest losses of jobs as they were before the controller was restarted.
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
#include "controller/store/metric_store.h"

namespace trainyard::controller {

// Ended jobs whose progress is looked up at a start, newest first.
inline constexpr int kRecentJobs = 50;

// Running and recent jobs, newest first: number and the settings that are needed here; of the loss
// guard's, only for jobs that run.
std::vector<v1::Job> JobsToRecover(const ClusterState& state);

struct RecoveredJob {
  v1::Job job;  // As JobsToRecover gave it.
  v1::Progress progress;
  StoredLosses losses;  // Of a job that runs.
};

// Adds what was recovered below what was observed since.
void MergeRecovered(const RecoveredJob& recovered, Observations& observations);

// Reads the newest stored metrics of jobs on a thread of its own: a few milliseconds a job, which
// the first request must not wait for. What cannot be read is left out: progress is only shown to
// people, and the window of the loss guard fills again.
class ProgressRecovery {
 public:
  // Called on that thread.
  using Found = std::function<void(const RecoveredJob& recovered)>;

  // `metrics` outlives this.
  ProgressRecovery(std::vector<v1::Job> jobs, MetricStore& metrics, Found found);
  // Ends after the job that is being read.
  ~ProgressRecovery();
  ProgressRecovery(const ProgressRecovery&) = delete;
  ProgressRecovery& operator=(const ProgressRecovery&) = delete;

 private:
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_PROGRESS_RECOVERY_H_

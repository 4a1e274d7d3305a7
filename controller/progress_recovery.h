// Progress of jobs as it was before the controller was restarted.
#ifndef TRAINYARD_CONTROLLER_PROGRESS_RECOVERY_H_
#define TRAINYARD_CONTROLLER_PROGRESS_RECOVERY_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/observations.h"
#include "controller/store/metric_store.h"

namespace trainyard::controller {

// Ended jobs whose progress is looked up at a start, newest first.
inline constexpr int kRecentJobs = 50;

// Running and recent jobs, newest first: number and steps of each, and nothing else.
std::vector<v1::Job> JobsToRecover(const ClusterState& state);

// Adds recovered progress below what was observed since.
void MergeRecovered(int64_t job_id, const v1::Progress& recovered, Observations& observations);

// Reads the newest stored metrics of jobs on a thread of its own: a few milliseconds a job, which
// the first request must not wait for. Progress that cannot be read is left out: it is only shown
// to people.
class ProgressRecovery {
 public:
  // Called on that thread.
  using Found = std::function<void(int64_t job_id, const v1::Progress& progress)>;

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

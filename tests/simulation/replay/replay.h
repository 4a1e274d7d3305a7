// Replays a trace on a cluster of equal nodes under a scheduling policy.
#ifndef TRAINYARD_TESTS_SIMULATION_REPLAY_REPLAY_H_
#define TRAINYARD_TESTS_SIMULATION_REPLAY_REPLAY_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "tests/simulation/replay/node_pool.h"
#include "tests/simulation/replay/trace.h"

namespace trainyard::replay {

// A time in which a job has GPUs. A preempted job has several.
struct JobRun {
  int job = 0;  // Place in the trace.
  int64_t start = 0;
  int64_t end = 0;
};

struct RunningJob {
  int job = 0;
  int64_t start = 0;
  int64_t end = 0;         // A policy does not know this time.
  int64_t latest_end = 0;  // The end by the time limit.
  Allocation allocation;
};

struct JobProgress {
  int64_t remaining = 0;  // Seconds of running that are left when the job starts next.
  int preemptions = 0;
};

// The cluster at one time. Policies start and preempt jobs through it.
class ReplayState {
 public:
  ReplayState(const std::vector<TraceJob>& jobs, NodePool pool);

  int64_t now() const { return now_; }
  const TraceJob& job(int number) const { return jobs_[number]; }
  const JobProgress& progress(int number) const { return progress_[number]; }
  const NodePool& pool() const { return pool_; }
  // The jobs that wait. Their order is that of their submission.
  const std::set<int>& pending() const { return pending_; }
  // The running jobs by number.
  const std::map<int, RunningJob>& running() const { return running_; }

  // Starts a pending job on these GPUs, which must be free.
  void Start(int number, const Allocation& allocation);
  // Ends a running job, which then waits again. Its later run is longer by the cost of a restart.
  void Preempt(int number);

 private:
  friend class Replay;

  void End(int number);

  const std::vector<TraceJob>& jobs_;
  NodePool pool_;
  int64_t now_ = 0;
  std::set<int> pending_;
  std::map<int, RunningJob> running_;
  std::set<std::pair<int64_t, int>> ends_;  // (time, job)
  std::vector<JobProgress> progress_;
  std::vector<JobRun> runs_;
};

// Seconds for which a preempted job runs longer: the save, the start, and the steps after the save.
inline constexpr int64_t kRestartCost = 120;

class Policy {
 public:
  virtual ~Policy() = default;
  // Called after jobs have arrived or ended. Starts the jobs that should run now.
  virtual void Pass(ReplayState& state) = 0;
};

// Returns the runs of all jobs, by their end. The cluster is empty at the start, and decisions take
// no time. Throws std::runtime_error if a job does not fit on the empty cluster.
std::vector<JobRun> RunReplay(const std::vector<TraceJob>& jobs, const NodePool& pool,
                              Policy& policy);

}  // namespace trainyard::replay

#endif  // TRAINYARD_TESTS_SIMULATION_REPLAY_REPLAY_H_

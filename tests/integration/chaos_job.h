// A job for tests that kill or freeze controllers, workers and ranks. The trainer is
// chained_trainer.py. Each of its losses depends on all preceding steps, so a wrong resume changes
// the losses. Each rank records the data that it writes, so that the checks know exactly which data
// must be stored.
#ifndef TRAINYARD_TESTS_INTEGRATION_CHAOS_JOB_H_
#define TRAINYARD_TESTS_INTEGRATION_CHAOS_JOB_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/integration/mini_cluster.h"

namespace trainyard::test {

class ChaosJob {
 public:
  // Submits a job with one rank on each of `nodes` nodes.
  ChaosJob(MiniCluster& cluster, const std::string& name, int nodes);

  int64_t id() const { return id_; }
  // Returns the number of the newest attempt; 0 before the first attempt, or if the controller
  // does not answer.
  int64_t AttemptNumber() const;
  // Returns the pid of the rank's program; 0 if it is not running.
  pid_t RunningRank(int64_t attempt_number, int rank) const;

  // Makes the trainer end at one of the next checkpoints. Waits for the end and returns the ended
  // job.
  v1::Job Finish();

  // Waits until all data of the succeeded job is stored, and fails the test with the first error
  // otherwise. Data that is still on the workers arrives shortly after the end of the job.
  void ExpectAllStored(const v1::Job& job) const;
  // Finishes the job. It must have succeeded in its first attempt, with all data stored. `rule` is
  // the reason, for the message of a failure.
  void FinishInOneAttempt(const std::string& rule);

 private:
  // Returns a description of the first error in the stored data of the job, or "" if all data is
  // stored.
  std::string FirstStoreError(const v1::Job& job) const;
  // Each of these checks returns a description of the first error, or "".
  //
  // The series merged over all attempts must contain
  // each step once, with the undisturbed loss.
  std::string CheckMergedView() const;
  // The attempt's own series must contain each trained step of the attempt exactly once.
  std::string CheckSteps(const v1::Attempt& attempt) const;
  // The stored output of the rank must equal its written output, byte for byte.
  std::string CheckOutput(const v1::Attempt& attempt, int rank) const;
  // Returns the lines that a rank has recorded as written. `kind` is "truth" (the rank's output) or
  // "metrics" (its steps). A killed rank may have written one line more than it recorded.
  std::vector<std::string> LinesOf(const std::string& kind, int64_t attempt_number, int rank) const;

  MiniCluster& cluster_;
  const std::string folder_;  // Shared with the trainer: has its records and the signal to finish.
  const int nodes_;           // Equal to the number of ranks.
  int64_t id_ = 0;
};

// Returns the losses of steps 1 to `steps` in an undisturbed run.
std::vector<double> UndisturbedLosses(int64_t steps);

}  // namespace trainyard::test

#endif  // TRAINYARD_TESTS_INTEGRATION_CHAOS_JOB_H_

// A job for tests that kill or freeze controllers, workers and ranks. In its trainer
// (chained_trainer.py) each loss depends on all preceding steps, so that a wrong resume changes the
// losses. Each rank records its writes, so that the checks know exactly which data must be stored.
#ifndef TRAINYARD_TESTS_INTEGRATION_CHAOS_JOB_H_
#define TRAINYARD_TESTS_INTEGRATION_CHAOS_JOB_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/integration/mini_cluster.h"

namespace trainyard::test {

class ChaosJob {
 public:
  // Submits a job of one rank on each of `nodes` nodes.
  ChaosJob(MiniCluster& cluster, const std::string& name, int nodes);

  int64_t id() const { return id_; }
  // Number of the newest attempt; 0 before the first attempt and if the controller does not answer.
  int64_t AttemptNumber() const;
  // Pid of the rank's program while it is running; else 0.
  pid_t RunningRank(int64_t attempt_number, int rank) const;

  // Makes the trainer end at one of the next checkpoints, waits for the end and returns the ended
  // job.
  v1::Job Finish();

  // Description of the first error in the stored data of the job, which has succeeded; empty if all
  // data is stored. Data still on the workers arrives shortly after the end.
  std::string WhatIsWrong(const v1::Job& job) const;

 private:
  // Each of these checks returns the first error, or an empty text.
  //
  // Every step occurs once in the series merged over all attempts, with the loss of an undisturbed
  // run.
  std::string CheckMergedView() const;
  // Every step trained by the attempt occurs once in the attempt's own series.
  std::string CheckSteps(const v1::Attempt& attempt) const;
  // The stored output of the rank equals its written output, byte for byte.
  std::string CheckOutput(const v1::Attempt& attempt, int rank) const;
  // Lines that a rank has recorded as written. `kind`: "truth" (its output) or "metrics" (its
  // steps). A killed rank may have written one line more than it recorded.
  std::vector<std::string> LinesOf(const std::string& kind, int64_t attempt_number, int rank) const;

  MiniCluster& cluster_;
  const std::string folder_;  // Shared with the trainer: its records and the signal to finish.
  const int nodes_;           // Equal to the number of ranks.
  int64_t id_ = 0;
};

// The losses of steps 1 to `steps` of an undisturbed run.
std::vector<double> UndisturbedLosses(int64_t steps);

}  // namespace trainyard::test

#endif  // TRAINYARD_TESTS_INTEGRATION_CHAOS_JOB_H_

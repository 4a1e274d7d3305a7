// A job for tests that kill and freeze things: a trainer whose losses form a chain
// (chained_trainer.py), and checks that know exactly which data must have arrived.
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
  // Number of the newest attempt; 0 before the first, and when the controller does not answer.
  int64_t AttemptNumber() const;
  // Pid of the rank's program while it runs; 0 when it does not.
  pid_t RunningRank(int64_t attempt_number, int rank) const;

  // Lets the job end and returns it.
  v1::Job Finish();

  // Description of the first error in the stored data of the job, which has succeeded; empty when
  // all data is there. Data that the workers still hold arrives shortly after the end.
  std::string WhatIsWrong(const v1::Job& job) const;

 private:
  // Every step is in the merged view once, with the loss of an undisturbed run.
  std::string CheckMergedView() const;
  // Every step that the attempt has trained is in its own series once.
  std::string CheckSteps(const v1::Attempt& attempt) const;
  // The stored output of the rank equals the output that it has written, byte for byte.
  std::string CheckOutput(const v1::Attempt& attempt, int rank) const;
  // Lines that a rank has recorded as written: `kind` is "truth" (its output) or "metrics" (its
  // steps). A killed rank may have written one more.
  std::vector<std::string> LinesOf(const std::string& kind, int64_t attempt_number, int rank) const;

  MiniCluster& cluster_;
  const std::string folder_;
  const int nodes_;
  int64_t id_ = 0;
};

// The losses of steps 1 to `steps` of an undisturbed run.
std::vector<double> UndisturbedLosses(int64_t steps);

}  // namespace trainyard::test

#endif  // TRAINYARD_TESTS_INTEGRATION_CHAOS_JOB_H_

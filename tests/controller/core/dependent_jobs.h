// Submits jobs that wait for other jobs.
#ifndef TRAINYARD_TESTS_CONTROLLER_CORE_DEPENDENT_JOBS_H_
#define TRAINYARD_TESTS_CONTROLLER_CORE_DEPENDENT_JOBS_H_

#include <initializer_list>
#include <string>

#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {

// Exit code of a program that refuses its settings, so that the job is not restarted.
inline constexpr int kRefusedSettings = 78;

// Returns a job of one rank that waits for these jobs.
inline v1::JobSpec SpecAfter(const std::string& name, std::initializer_list<const char*> after) {
  v1::JobSpec spec = TestSpec(name, 1, 1);
  for (const char* reference : after) spec.add_after(reference);
  return spec;
}

inline JobSubmission SubmissionOf(const v1::JobSpec& spec, bool hold = false) {
  v1::SubmitJobRequest request;
  *request.mutable_spec() = spec;
  request.set_hold(hold);
  return Checked(request);
}

// Runs the job until it has ended, with this exit code. The job may be running already.
inline void FinishJob(TestCluster& cluster, int64_t job_id, int exit_code) {
  if (cluster.StateOf(job_id) != v1::JOB_STATE_RUNNING) cluster.RunJob(job_id);
  cluster.ExitAll(job_id, exit_code);
  cluster.ClearAll(job_id);
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_CORE_DEPENDENT_JOBS_H_

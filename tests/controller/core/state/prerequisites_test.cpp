#include "controller/core/state/prerequisites.h"

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

v1::Job JobAfter(v1::JobState first, v1::JobState second) {
  v1::Job job;
  job.set_id(9);
  job.add_after()->set_job_id(1);
  job.add_after()->set_job_id(2);
  job.mutable_after(0)->set_outcome(first);
  job.mutable_after(1)->set_outcome(second);
  return job;
}

TEST(PrerequisitesTest, AJobWaitsUntilAllJobsHaveSucceeded) {
  constexpr v1::JobState kOpen = v1::JOB_STATE_UNSPECIFIED, kGood = v1::JOB_STATE_SUCCEEDED;
  EXPECT_FALSE(IsDependent(v1::Job()));
  EXPECT_TRUE(IsDependent(JobAfter(kOpen, kGood)));
  EXPECT_TRUE(IsDependent(JobAfter(kGood, v1::JOB_STATE_FAILED)));
  EXPECT_FALSE(IsDependent(JobAfter(kGood, kGood)));
}

TEST(PrerequisitesTest, FailedAndStoppedJobsAreFailedPrerequisites) {
  constexpr v1::JobState kOpen = v1::JOB_STATE_UNSPECIFIED, kGood = v1::JOB_STATE_SUCCEEDED;
  EXPECT_EQ(FailedPrerequisite(JobAfter(kOpen, kGood)), nullptr);
  const v1::Job failed = JobAfter(kOpen, v1::JOB_STATE_FAILED);
  ASSERT_NE(FailedPrerequisite(failed), nullptr);
  EXPECT_EQ(FailedPrerequisite(failed)->job_id(), 2);
  const v1::Job stopped = JobAfter(v1::JOB_STATE_STOPPED, kOpen);
  ASSERT_NE(FailedPrerequisite(stopped), nullptr);
  EXPECT_EQ(FailedPrerequisite(stopped)->job_id(), 1);
}

TEST(PrerequisitesTest, TheIndexesKnowOpenAndFailedPrerequisites) {
  ClusterState state;
  const v1::Job job = JobAfter(v1::JOB_STATE_UNSPECIFIED, v1::JOB_STATE_STOPPED);
  AddDependencies(job, state);
  EXPECT_EQ(state.dependents, (std::map<int64_t, std::set<int64_t>>{{1, {9}}}));
  EXPECT_EQ(state.unsatisfiable_jobs, std::set<int64_t>{9});
  RemoveDependencies(job, state);
  EXPECT_TRUE(state.dependents.empty());
  EXPECT_TRUE(state.unsatisfiable_jobs.empty());
}

}  // namespace
}  // namespace trainyard::controller

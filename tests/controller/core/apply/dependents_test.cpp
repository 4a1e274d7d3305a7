#include "controller/core/apply/dependents.h"

#include <string>

#include "controller/core/apply/apply.h"
#include "controller/core/event_log/snapshot.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/dependent_jobs.h"

namespace trainyard::controller {
namespace {

using ::testing::IsEmpty;

class DependentsTest : public ::testing::Test {
 protected:
  DependentsTest() {
    cluster_.AddNode("a", 2);
    data_ = cluster_.Submit("data", 1, 1);
  }

  TestCluster cluster_;
  int64_t data_ = 0;
};

TEST_F(DependentsTest, AJobIsPlacedOnlyAfterItsPrerequisiteHasSucceeded) {
  const int64_t train = cluster_.Submit(SpecAfter("train", {"data"}));
  const int64_t other = cluster_.Submit("other", 1, 1);
  cluster_.RunJob(data_);
  EXPECT_EQ(cluster_.StateOf(train), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(cluster_.StateOf(other), v1::JOB_STATE_STARTING) << "a dependent job blocks no job";
  EXPECT_FALSE(cluster_.state.pending_jobs.Contains({train}));
  cluster_.Pass(5000);
  cluster_.ExitAll(data_, 0);
  cluster_.ClearAll(data_);
  ASSERT_EQ(cluster_.StateOf(data_), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(cluster_.StateOf(train), v1::JOB_STATE_STARTING);
  ASSERT_EQ(cluster_.Job(train).after_size(), 1);
  EXPECT_EQ(cluster_.Job(train).after(0).job_id(), data_);
  EXPECT_EQ(cluster_.Job(train).after(0).outcome(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(cluster_.Job(train).after(0).ended_time_ms(), cluster_.Job(data_).ended_time_ms());
  EXPECT_THAT(cluster_.state.dependents, IsEmpty());
}

TEST_F(DependentsTest, ARestartedPrerequisiteCountsWhenItSucceeds) {
  const int64_t train = cluster_.Submit(SpecAfter("train", {"data"}));
  cluster_.RunJob(data_);
  cluster_.ExitAll(data_, 1);
  cluster_.ClearAll(data_);
  ASSERT_EQ(cluster_.StateOf(data_), v1::JOB_STATE_RECOVERING);
  EXPECT_EQ(cluster_.StateOf(train), v1::JOB_STATE_QUEUED);
  cluster_.Pass(5000);
  FinishJob(cluster_, data_, 0);
  ASSERT_EQ(cluster_.Job(data_).attempts_size(), 2);
  EXPECT_EQ(cluster_.StateOf(train), v1::JOB_STATE_STARTING);
}

TEST_F(DependentsTest, AllPrerequisitesMustSucceed) {
  const int64_t more = cluster_.Submit("more", 1, 1);
  const int64_t train = cluster_.Submit(SpecAfter("train", {"data", "more"}));
  FinishJob(cluster_, more, 0);
  EXPECT_EQ(cluster_.StateOf(train), v1::JOB_STATE_QUEUED);
  FinishJob(cluster_, data_, 0);
  EXPECT_EQ(cluster_.StateOf(train), v1::JOB_STATE_STARTING);
}

TEST_F(DependentsTest, AFailureStartsTheJobThatRequiresIt) {
  const int64_t repair = cluster_.Submit(SpecAfter("repair", {"data:failure"}));
  const int64_t report = cluster_.Submit(SpecAfter("report", {"data:end"}));
  cluster_.RunJob(data_);
  EXPECT_EQ(cluster_.StateOf(repair), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(cluster_.StateOf(report), v1::JOB_STATE_QUEUED);
  FinishJob(cluster_, data_, kRefusedSettings);
  EXPECT_EQ(cluster_.StateOf(repair), v1::JOB_STATE_STARTING);
  EXPECT_EQ(cluster_.StateOf(report), v1::JOB_STATE_STARTING);
}

TEST_F(DependentsTest, AStoppedJobHasEndedButNotFailed) {
  const int64_t repair = cluster_.Submit(SpecAfter("repair", {"data:failure"}));
  const int64_t report = cluster_.Submit(SpecAfter("report", {"data:end"}));
  cluster_.Stop(data_);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(repair), v1::JOB_STATE_FAILED);
  EXPECT_EQ(cluster_.StateOf(report), v1::JOB_STATE_STARTING);
}

TEST_F(DependentsTest, TheFirstCheckpointFromTheStepStartsTheJob) {
  const int64_t probe = cluster_.Submit(SpecAfter("probe", {"data:checkpoint:20"}));
  cluster_.RunJob(data_);
  cluster_.Publish(data_, 10);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(probe), v1::JOB_STATE_QUEUED);
  cluster_.now += 1000;
  cluster_.Publish(data_, 25);
  EXPECT_TRUE(cluster_.state.pending_jobs.Contains({probe}));
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(probe), v1::JOB_STATE_STARTING);
  EXPECT_EQ(cluster_.Job(probe).after(0).checkpoint_step(), 25);
  EXPECT_EQ(cluster_.Job(probe).after(0).checkpoint_time_ms(), cluster_.now);
  EXPECT_EQ(cluster_.Job(probe).after(0).outcome(), v1::JOB_STATE_UNSPECIFIED);
  EXPECT_THAT(cluster_.state.dependents, IsEmpty());
  cluster_.Publish(data_, 30);
  FinishJob(cluster_, data_, kRefusedSettings);
  EXPECT_EQ(cluster_.Job(probe).after(0).checkpoint_step(), 25);
  EXPECT_EQ(cluster_.StateOf(probe), v1::JOB_STATE_STARTING) << "the condition stays met";
}

TEST_F(DependentsTest, ALateCheckpointOfAnEndedJobStartsTheJob) {
  const int64_t probe = cluster_.Submit(SpecAfter("probe", {"data:checkpoint"}));
  cluster_.RunJob(data_);
  cluster_.Report("a", data_);
  cluster_.Pass(1000);
  FinishJob(cluster_, data_, 0);
  ASSERT_EQ(cluster_.StateOf(data_), v1::JOB_STATE_SUCCEEDED);
  ASSERT_EQ(cluster_.StateOf(probe), v1::JOB_STATE_QUEUED);
  cluster_.Publish(data_, 10);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(probe), v1::JOB_STATE_STARTING);
  EXPECT_THAT(cluster_.state.unsatisfiable_jobs, IsEmpty());
}

TEST_F(DependentsTest, ConditionsOnOneJobMustAllBeMet) {
  const int64_t next = cluster_.Submit(SpecAfter("next", {"data:checkpoint", "data"}));
  ASSERT_EQ(cluster_.Job(next).after_size(), 2);
  cluster_.RunJob(data_);
  cluster_.Publish(data_, 10);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(next), v1::JOB_STATE_QUEUED);
  FinishJob(cluster_, data_, 0);
  EXPECT_EQ(cluster_.StateOf(next), v1::JOB_STATE_STARTING);
}

// Older releases wrote no condition.
TEST_F(DependentsTest, AnEntryOfAnOlderLogMeansSuccess) {
  v1::Event event;
  event.set_time_ms(cluster_.now);
  v1::JobSubmitted& submitted = *event.mutable_job_submitted();
  submitted.set_job_id(cluster_.state.next_job_id);
  *submitted.mutable_spec() = SpecAfter("old", {"data"});
  submitted.add_after()->set_job_id(data_);
  Apply(event, cluster_.state);
  const int64_t old = submitted.job_id();
  EXPECT_TRUE(cluster_.state.dependent_jobs.contains(old));
  const ClusterState restored = FromSnapshot(ToSnapshot(cluster_.state, 0));
  EXPECT_EQ(DifferentIndexes(cluster_.state, restored), "");
  cluster_.RunJob(data_);
  EXPECT_EQ(cluster_.StateOf(old), v1::JOB_STATE_QUEUED);
  FinishJob(cluster_, data_, 0);
  EXPECT_EQ(cluster_.StateOf(old), v1::JOB_STATE_STARTING);
}

TEST_F(DependentsTest, AFailureEndsTheWholeChain) {
  const int64_t train = cluster_.Submit(SpecAfter("train", {"data"}));
  const int64_t evaluate = cluster_.Submit(SpecAfter("evaluate", {"train"}));
  FinishJob(cluster_, data_, kRefusedSettings);
  ASSERT_EQ(cluster_.StateOf(data_), v1::JOB_STATE_FAILED);
  for (const int64_t id : {train, evaluate}) {
    EXPECT_EQ(cluster_.StateOf(id), v1::JOB_STATE_FAILED);
    EXPECT_EQ(cluster_.Job(id).verdict().cause(), v1::VERDICT_CAUSE_DEPENDENCY_FAILED);
    EXPECT_THAT(cluster_.Job(id).attempts(), IsEmpty());
  }
  EXPECT_THAT(cluster_.state.unsatisfiable_jobs, IsEmpty());
  EXPECT_THAT(cluster_.state.dependent_jobs, IsEmpty());
}

TEST_F(DependentsTest, AHeldJobLearnsTheOutcomeAndStaysHeld) {
  cluster_.Do(SubmissionOf(SpecAfter("train", {"data"}), /*hold=*/true));
  const int64_t train = cluster_.state.newest_job_id;
  FinishJob(cluster_, data_, 0);
  EXPECT_EQ(cluster_.StateOf(train), v1::JOB_STATE_HELD);
  ResumeJob resume;
  resume.request.set_job("train");
  cluster_.Do(resume);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(train), v1::JOB_STATE_STARTING);
}

TEST_F(DependentsTest, AHeldJobFailsWithItsPrerequisite) {
  cluster_.Do(SubmissionOf(SpecAfter("train", {"data"}), /*hold=*/true));
  const int64_t train = cluster_.state.newest_job_id;
  FinishJob(cluster_, data_, kRefusedSettings);
  EXPECT_EQ(cluster_.StateOf(train), v1::JOB_STATE_FAILED);
}

TEST_F(DependentsTest, AStoppedDependentJobLeavesNoIndex) {
  const int64_t train = cluster_.Submit(SpecAfter("train", {"data"}));
  cluster_.Stop(train);
  EXPECT_EQ(cluster_.StateOf(train), v1::JOB_STATE_STOPPED);
  EXPECT_THAT(cluster_.state.dependents, IsEmpty());
  EXPECT_THAT(cluster_.state.dependent_jobs, IsEmpty());
  FinishJob(cluster_, data_, kRefusedSettings);
  EXPECT_EQ(cluster_.StateOf(train), v1::JOB_STATE_STOPPED);
}

TEST_F(DependentsTest, ASnapshotKeepsTheDependencies) {
  cluster_.Submit(SpecAfter("train", {"data"}));
  cluster_.RunJob(data_);
  cluster_.Publish(data_, 10);
  const int64_t failed = cluster_.Submit("failed", 1, 1);
  cluster_.Submit(SpecAfter("probe", {"data:checkpoint:5", "data:checkpoint:20", "data:end"}));
  cluster_.Do(SubmissionOf(SpecAfter("held", {"data", "failed"}), /*hold=*/true));
  cluster_.Stop(failed);
  // The held job is now unsatisfiable, but Reconcile has not ended it yet.
  ASSERT_EQ(cluster_.state.unsatisfiable_jobs.size(), 1u);
  const ClusterState restored = FromSnapshot(ToSnapshot(cluster_.state, 0));
  EXPECT_EQ(DifferentIndexes(cluster_.state, restored), "");
  EXPECT_EQ(Bytes(cluster_.state), Bytes(restored));
}

}  // namespace
}  // namespace trainyard::controller

#include "controller/core/decide/dependencies.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/dependent_jobs.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;

class DependenciesTest : public ::testing::Test {
 protected:
  DependenciesTest() {
    cluster_.AddNode("a", 2);
    data_ = cluster_.Submit("data", 1, 1);
  }

  absl::Status Try(std::initializer_list<const char*> after) {
    return cluster_.Try(SubmissionOf(SpecAfter("train", after)));
  }

  TestCluster cluster_;
  int64_t data_ = 0;
};

TEST_F(DependenciesTest, AJobIsNamedByNumberNameOrLastAndListedOnce) {
  const auto found = FindPrerequisites(cluster_.state, SpecAfter("train", {"data", "1", "@last"}),
                                       {}, cluster_.options, cluster_.now);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().job_id(), data_);
  EXPECT_EQ(found->front().name(), "data");
  EXPECT_EQ(found->front().outcome(), v1::JOB_STATE_UNSPECIFIED);
}

TEST_F(DependenciesTest, ANameMeansTheNewestJobOfThatNameEvenIfAnotherFollows) {
  FinishJob(cluster_, data_, 0);
  const int64_t second = cluster_.Submit("data", 1, 1);
  const int64_t train = cluster_.Submit(SpecAfter("train", {"data"}));
  EXPECT_EQ(cluster_.Job(train).after(0).job_id(), second);
}

TEST_F(DependenciesTest, UnknownJobsAreRefused) {
  for (const char* unknown : {"nope", "99", "2"}) {
    const absl::Status refused = Try({unknown});
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << unknown;
    EXPECT_THAT(refused.message(), HasSubstr("after: there is no job `")) << unknown;
  }
  EXPECT_TRUE(Try({"data"}).ok());
}

// A cycle needs a job that names a later one.
TEST_F(DependenciesTest, TheFirstJobOfACycleIsRefused) {
  const absl::Status refused = cluster_.Try(SubmissionOf(SpecAfter("chicken", {"egg"})));
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("there is no job `egg`"));
}

TEST_F(DependenciesTest, AJobThatEndedWithoutSuccessIsRefused) {
  cluster_.Stop(data_);
  const absl::Status refused = Try({"data"});
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message(), HasSubstr("job 1 (data) has ended without success (stopped)"));
}

TEST_F(DependenciesTest, ConditionsAreRecordedEachOnce) {
  const int64_t next = cluster_.Submit(SpecAfter(
      "next", {"data:end", "1:end", "data:checkpoint:5", "data:checkpoint:05", "data:checkpoint"}));
  const v1::Job& job = cluster_.Job(next);
  ASSERT_EQ(job.after_size(), 3);
  EXPECT_EQ(job.after(0).condition(), v1::JOB_CONDITION_END);
  EXPECT_EQ(job.after(1).condition(), v1::JOB_CONDITION_CHECKPOINT);
  EXPECT_EQ(job.after(1).step(), 5);
  EXPECT_EQ(job.after(2).step(), 0);
}

TEST_F(DependenciesTest, SuccessAndFailureOfOneJobAreRefused) {
  for (const auto& after : {std::initializer_list<const char*>{"data", "1:failure"},
                            std::initializer_list<const char*>{"data:failure", "data:success"}}) {
    const absl::Status refused = Try(after);
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.message(), HasSubstr("job 1 (data) cannot both succeed and fail"));
  }
}

TEST_F(DependenciesTest, AnEndedJobMustHaveMetItsCondition) {
  FinishJob(cluster_, data_, 0);
  EXPECT_TRUE(Try({"data:end"}).ok());
  const absl::Status refused = Try({"data:failure"});
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message(), HasSubstr("job 1 (data) has ended without failure (succeeded)"));
  // The report of a checkpoint may still arrive.
  EXPECT_TRUE(Try({"data:checkpoint:7"}).ok());
  cluster_.now += cluster_.options.return_within_ms;
  const absl::Status late = Try({"data:checkpoint:7"});
  EXPECT_EQ(late.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(late.message(),
              HasSubstr("has ended without a checkpoint at step 7 or later (succeeded)"));
}

TEST_F(DependenciesTest, AnExistingCheckpointMeetsTheCondition) {
  cluster_.RunJob(data_);
  cluster_.Publish(data_, 10);
  cluster_.Publish(data_, 20);
  const int64_t next = cluster_.Submit(SpecAfter("next", {"data:checkpoint:15"}));
  EXPECT_TRUE(cluster_.state.pending_jobs.Contains({next}));
  EXPECT_EQ(cluster_.Job(next).after(0).checkpoint_step(), 20);
  EXPECT_EQ(cluster_.Job(next).after(0).checkpoint_time_ms(), 0);
  FinishJob(cluster_, data_, kRefusedSettings);
  cluster_.now += cluster_.options.lease_ms;
  EXPECT_TRUE(Try({"data:checkpoint:15"}).ok()) << "the checkpoint of an ended job counts";
}

TEST_F(DependenciesTest, AJobThatCannotSaveTheCheckpointIsRefused) {
  v1::JobSpec tokens = TestSpec("tokens", 1, 1);
  tokens.set_kind(v1::JOB_KIND_DATA);
  tokens.set_pipeline("/data/pipeline.yaml");
  tokens.clear_command();
  cluster_.Submit(tokens);
  absl::Status refused = Try({"tokens:checkpoint"});
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("job 2 (tokens) prepares data (`kind: data`) and saves "
                                           "no checkpoints; wait for its success or its end"));
  v1::JobSpec run = AutoSpec("run", 1, 1);
  run.mutable_train()->set_steps(100);
  cluster_.Submit(run);
  EXPECT_TRUE(Try({"run:checkpoint:100"}).ok());
  refused = Try({"run:checkpoint:101"});
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("job 3 (run) trains 100 steps, so it never has a "
                                           "checkpoint at step 101 or later"));
}

TEST_F(DependenciesTest, AJobThatHasSucceededIsNotWaitedFor) {
  FinishJob(cluster_, data_, 0);
  const int64_t train = cluster_.Submit(SpecAfter("train", {"data"}));
  EXPECT_TRUE(cluster_.state.pending_jobs.Contains({train}));
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(train), v1::JOB_STATE_STARTING);
}

TEST_F(DependenciesTest, AnArchivedJobIsFoundByTheCaller) {
  JobSubmission submission = SubmissionOf(SpecAfter("train", {"gone"}));
  EXPECT_FALSE(cluster_.Try(submission).ok());
  v1::Job gone;
  gone.set_id(1);
  gone.set_name("gone");
  gone.set_state(v1::JOB_STATE_SUCCEEDED);
  gone.set_ended_time_ms(77);
  submission.set_archived({{"gone", AsPrerequisite(gone, {"gone"})}});
  cluster_.Do(submission);
  const v1::Prerequisite& known = cluster_.Job(cluster_.state.newest_job_id).after(0);
  EXPECT_EQ(known.outcome(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(known.ended_time_ms(), 77);
  JobSubmission other = SubmissionOf(SpecAfter("other", {"gone:failure"}));
  other.set_archived({{"gone:failure", AsPrerequisite(gone, {"gone", v1::JOB_CONDITION_FAILURE})}});
  EXPECT_EQ(cluster_.Try(other).code(), absl::StatusCode::kFailedPrecondition);
  gone.set_state(v1::JOB_STATE_FAILED);
  JobSubmission late = SubmissionOf(SpecAfter("late", {"gone"}));
  late.set_archived({{"gone", AsPrerequisite(gone, {"gone"})}});
  EXPECT_EQ(cluster_.Try(late).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(DependenciesTest, ARepeatedSubmissionCreatesNoSecondJob) {
  const int64_t train = cluster_.Submit(SpecAfter("train", {"data"}), "request");
  FinishJob(cluster_, data_, kRefusedSettings);
  EXPECT_EQ(cluster_.Submit(SpecAfter("train", {"data"}), "request"), train);
}

}  // namespace
}  // namespace trainyard::controller

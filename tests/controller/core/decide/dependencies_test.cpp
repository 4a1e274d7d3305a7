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
  const auto found =
      FindPrerequisites(cluster_.state, SpecAfter("train", {"data", "1", "@last"}), {});
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
  submission.set_archived({{"gone", AsPrerequisite(gone)}});
  cluster_.Do(submission);
  const v1::Prerequisite& known = cluster_.Job(cluster_.state.newest_job_id).after(0);
  EXPECT_EQ(known.outcome(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(known.ended_time_ms(), 77);
  gone.set_state(v1::JOB_STATE_FAILED);
  JobSubmission late = SubmissionOf(SpecAfter("late", {"gone"}));
  late.set_archived({{"gone", AsPrerequisite(gone)}});
  EXPECT_EQ(cluster_.Try(late).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(DependenciesTest, ARepeatedSubmissionCreatesNoSecondJob) {
  const int64_t train = cluster_.Submit(SpecAfter("train", {"data"}), "request");
  FinishJob(cluster_, data_, 78);
  EXPECT_EQ(cluster_.Submit(SpecAfter("train", {"data"}), "request"), train);
}

}  // namespace
}  // namespace trainyard::controller

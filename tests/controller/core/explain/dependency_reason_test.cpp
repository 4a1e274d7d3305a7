#include "controller/core/explain/dependency_reason.h"

#include "absl/strings/str_cat.h"
#include "controller/core/explain/explain.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/explain/preview.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/dependent_jobs.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class DependencyReasonTest : public ::testing::Test {
 protected:
  DependencyReasonTest() {
    cluster_.AddNode("a", 2);
    data_ = cluster_.Submit("data", 1, 1);
    train_ = cluster_.Submit(SpecAfter("train", {"data"}));
  }

  v1::PendingReason Why(int64_t job) const {
    return WhyPending(cluster_.View(), cluster_.state.jobs.at(job));
  }

  TestCluster cluster_;
  int64_t data_ = 0;
  int64_t train_ = 0;
};

TEST_F(DependencyReasonTest, NamesTheJobWithItsStateAndTheNextCommand) {
  cluster_.RunJob(data_);
  const v1::PendingReason reason = Why(train_);
  EXPECT_EQ(reason.code(), v1::PENDING_CODE_DEPENDENCY);
  EXPECT_EQ(reason.message(), "waits for the success of job 1 (data), which is running (`after`)");
  EXPECT_EQ(reason.advice(), "`trainyard why 1` explains job 1 (data)");
  EXPECT_EQ(reason.queue_position(), 0);
  EXPECT_EQ(reason.blocking_job_id(), 0) << "the job is not behind the head of the queue";
  const auto answer = ExplainJob(cluster_.View(), cluster_.state.jobs.at(train_)).answer();
  EXPECT_THAT(answer, HasSubstr("job 2 (train) waits: waits for the success of job 1 (data)"));
}

TEST_F(DependencyReasonTest, LeavesOutJobsThatHaveSucceeded) {
  const int64_t more = cluster_.Submit("more", 1, 1);
  const int64_t both = cluster_.Submit(SpecAfter("both", {"data", "more"}));
  EXPECT_EQ(Why(both).message(),
            "waits for the success of job 1 (data), which is queued; for the success of job 3 "
            "(more), which is queued (`after`)");
  FinishJob(cluster_, data_, 0);
  EXPECT_THAT(Why(both).message(), Not(HasSubstr("data")));
  EXPECT_EQ(Why(both).advice(), absl::StrCat("`trainyard why ", more, "` explains job 3 (more)"));
}

TEST_F(DependencyReasonTest, NamesTheConditionThatIsMissing) {
  const int64_t next = cluster_.Submit(
      SpecAfter("next", {"data:failure", "data:end", "data:checkpoint", "data:checkpoint:20"}));
  EXPECT_EQ(Why(next).message(),
            "waits for the failure of job 1 (data), which is queued; for the end of job 1 (data), "
            "which is queued; for a checkpoint of job 1 (data), which is queued and has no "
            "checkpoint yet; for a checkpoint at step 20 or later of job 1 (data), which is queued "
            "and has no checkpoint yet (`after`)");
  cluster_.RunJob(data_);
  cluster_.Publish(data_, 10);
  EXPECT_THAT(Why(next).message(),
              HasSubstr("for a checkpoint at step 20 or later of job 1 (data), "
                        "which is running and has a checkpoint at step 10"));
  EXPECT_THAT(Why(next).message(), Not(HasSubstr("for a checkpoint of job 1")));
}

TEST_F(DependencyReasonTest, ACheckpointOfAnEndedJobMayStillBeReported) {
  const int64_t next = cluster_.Submit(SpecAfter("next", {"data:checkpoint"}));
  cluster_.RunJob(data_);
  cluster_.Report("a", data_);
  cluster_.Pass(1000);
  FinishJob(cluster_, data_, 0);
  EXPECT_THAT(Why(next).message(), HasSubstr("job 1 (data), which has ended (succeeded) and may "
                                             "still report a checkpoint"));
}

TEST_F(DependencyReasonTest, NamesAtMostFiveConditions) {
  v1::Job job;
  for (int i = 1; i <= 8; ++i) {
    v1::Prerequisite& prerequisite = *job.add_after();
    prerequisite.set_job_id(100 + i);
    prerequisite.set_name(absl::StrCat("p", i));
  }
  const v1::PendingReason reason = WhyDependent(cluster_.state, job);
  EXPECT_THAT(reason.message(), HasSubstr("job 105 (p5), which is unknown; for 3 more conditions"));
  EXPECT_THAT(reason.message(), Not(HasSubstr("p6")));
}

TEST_F(DependencyReasonTest, DependentJobsDoNotCountInTheQueue) {
  cluster_.Settle();
  cluster_.Submit("wide", 1, 2);
  cluster_.Submit(SpecAfter("more", {"data"}));
  const int64_t last = cluster_.Submit("last", 1, 2);
  EXPECT_EQ(Why(last).queue_position(), 2);
}

TEST_F(DependencyReasonTest, APreviewNamesTheDependency) {
  const auto plan = PreviewJob(cluster_.View(), SpecAfter("next", {"data"}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_FALSE(plan->starts_now());
  EXPECT_EQ(plan->pending().code(), v1::PENDING_CODE_DEPENDENCY);
  EXPECT_EQ(plan->ranks_size(), 1);
  EXPECT_EQ(PreviewJob(cluster_.View(), SpecAfter("next", {"nope"})).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace trainyard::controller

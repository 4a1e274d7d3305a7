// Limits of queues while jobs restart.
#include "controller/core/explain/pending_reason.h"
#include "controller/core/state/slots/queues.h"
#include "controller/core/support/preemption_limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;

constexpr int kLimit = 4;

// A queue with a limit of four slots, and a job with all of them that loses one of its two nodes.
class QuotasTest : public ::testing::Test {
 protected:
  QuotasTest() {
    for (const char* id : {"a", "b", "c", "d"}) cluster_.AddNode(id, 2);
    EXPECT_TRUE(cluster_.Try(Limit(kLimit)).ok());
    cluster_.Do(Limit(kLimit));
    first_ = Submit("first", 2);
    cluster_.RunJob(first_);
    second_ = Submit("second", 1);
  }

  static SetQueue Limit(int max_slots) {
    SetQueue set{.request = {}, .principal = {"ada"}};
    v1::Queue& queue = *set.request.mutable_queue();
    queue.set_name("lab");
    v1::SlotQuota& quota = *queue.add_quotas();
    quota.set_device(v1::DEVICE_KIND_CPU);
    quota.set_max_slots(max_slots);
    quota.set_max_slots_per_user(max_slots);
    return set;
  }

  int64_t Submit(const std::string& name, int nodes) {
    v1::JobSpec spec = TestSpec(name, nodes, 2);
    spec.set_queue("lab");
    spec.mutable_restart()->mutable_backoff()->set_seconds(60);
    return cluster_.Submit(spec);
  }

  // Ends the attempt of the first job without its second node.
  void LoseNode() {
    cluster_.StopHeartbeats("b");
    for (const int rank : {0, 1}) cluster_.ExitRank(first_, rank, 1);
    cluster_.ClearNode(first_, "a");
    cluster_.Pass(20'000);
    ASSERT_EQ(cluster_.StateOf(first_), v1::JOB_STATE_RECOVERING);
    ASSERT_EQ(HeldSlotsOf(cluster_.state, {v1::DEVICE_KIND_CPU, "lab", ""}), 2);
  }

  TestCluster cluster_;
  int64_t first_ = 0;
  int64_t second_ = 0;
};

TEST_F(QuotasTest, AJobKeepsItsPartOfTheLimitWhileItRestarts) {
  LoseNode();
  EXPECT_EQ(cluster_.StateOf(second_), v1::JOB_STATE_QUEUED) << "two slots are free in the queue";
  EXPECT_EQ(ClaimedSlotsOf(cluster_.state, {v1::DEVICE_KIND_CPU, "lab", "ada"}), kLimit);
  EXPECT_THAT(WhyPending(cluster_.View(), cluster_.state.jobs.at(second_)).message(),
              HasSubstr("the queue lab holds 4 and may hold 4"));
  cluster_.Pass(60'000, 1000);
  EXPECT_EQ(cluster_.Placement(first_), "a:0 a:1 c:0 c:1");
  EXPECT_EQ(cluster_.StateOf(second_), v1::JOB_STATE_QUEUED);
}

TEST_F(QuotasTest, ALimitBelowTheSlotsOfARestartingJobIsRefused) {
  LoseNode();
  const absl::Status refused = cluster_.Try(Limit(2));
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message(), HasSubstr("the queue lab holds 4 cpu slots"));
}

// A queue with a limit of six slots. Two jobs hold them, and a job of six slots waits.
class SmallJobsTest : public QuotasTest {
 protected:
  SmallJobsTest() {
    cluster_.Do(Limit(6));
    cluster_.Settle();
    cluster_.RunJob(second_);
    large_ = Submit("large", 3);
    cluster_.Settle();
  }

  int64_t SubmitSmall(int64_t limit_s, const std::string& queue = "lab") {
    v1::JobSpec spec = TestSpec("small-" + std::to_string(cluster_.state.next_job_id), 1, 1);
    spec.set_queue(queue);
    if (limit_s > 0) spec.mutable_time_limit()->set_seconds(limit_s);
    return cluster_.Submit(spec);
  }

  void Finish(int64_t job) {
    cluster_.ExitAll(job, 0);
    cluster_.ClearAll(job);
  }

  int64_t large_ = 0;
};

TEST_F(SmallJobsTest, TheHeadKeepsItsPartOfTheLimit) {
  v1::JobSpec spec = TestSpec("other", 2, 2);
  spec.mutable_time_limit()->set_seconds(3600);
  const int64_t other = cluster_.Submit(spec);
  Finish(first_);
  Finish(second_);
  // The other queue holds two of four nodes, and the large job needs three.
  ASSERT_EQ(cluster_.StateOf(other), v1::JOB_STATE_STARTING);
  ASSERT_EQ(cluster_.StateOf(large_), v1::JOB_STATE_QUEUED);
  const int64_t small = SubmitSmall(0);
  const int64_t outside = SubmitSmall(0, "default");
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(small), v1::JOB_STATE_QUEUED) << "7 slots exceed the limit";
  EXPECT_EQ(cluster_.StateOf(outside), v1::JOB_STATE_STARTING) << "it is in another queue";
}

TEST_F(SmallJobsTest, AfterTenMinutesSmallJobsNoLongerTakeTheLimitOfALargeOne) {
  Finish(second_);
  const int64_t early = SubmitSmall(0);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(early), v1::JOB_STATE_STARTING) << "two slots are left";
  cluster_.RunJob(early);
  cluster_.Pass(PreemptionLimits().wait_ms, 10'000);
  const int64_t late = SubmitSmall(0);
  const int64_t other = SubmitSmall(0, "default");
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(late), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(cluster_.StateOf(other), v1::JOB_STATE_STARTING) << "its queue has no limit";
  const v1::PendingReason why = WhyPending(cluster_.View(), cluster_.state.jobs.at(late));
  EXPECT_EQ(why.code(), v1::PENDING_CODE_QUOTA);
  EXPECT_THAT(why.message(), HasSubstr("limit of the queue lab is kept for an earlier job"));
  Finish(first_);
  Finish(early);
  EXPECT_EQ(cluster_.StateOf(large_), v1::JOB_STATE_STARTING);
}

}  // namespace
}  // namespace trainyard::controller

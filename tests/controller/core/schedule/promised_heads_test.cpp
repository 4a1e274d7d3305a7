// Several heads of a queue are promised times, and no later job delays any of them.
#include "controller/core/schedule/promised_heads.h"

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "controller/core/explain/pending_reason.h"
#include "controller/core/explain/preview.h"
#include "controller/core/schedule/schedule.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Node a has two slots, on which a job runs for at most 1,000 s. Node b has two slots too. A job
// runs on one of them for at most 3,000 s. The first head waits for node a, the second one for
// node b.
class PromisedHeadsTest : public ::testing::Test {
 protected:
  explicit PromisedHeadsTest(int promised_heads = 2) {
    cluster_.options.promised_heads = promised_heads;
    cluster_.AddNode("a", 2);
    cluster_.RunJob(Submit(2, 1000));
    cluster_.AddNode("b", 2);
    cluster_.RunJob(Submit(1, 3000));
    first_ = Submit(2, 0);
    second_ = Submit(2, 0);
    cluster_.Settle();
  }

  v1::JobSpec SpecOf(int slots, int64_t limit_s) const {
    v1::JobSpec spec = TestSpec("job-" + std::to_string(cluster_.state.next_job_id), 1, slots);
    if (limit_s > 0) spec.mutable_time_limit()->set_seconds(limit_s);
    return spec;
  }

  int64_t Submit(int slots, int64_t limit_s) { return cluster_.Submit(SpecOf(slots, limit_s)); }

  // Submits a job behind the heads. Returns true if it starts.
  bool Starts(int slots, int64_t limit_s) {
    const int64_t job = Submit(slots, limit_s);
    cluster_.Settle();
    return cluster_.StateOf(job) == v1::JOB_STATE_STARTING;
  }

  std::vector<int64_t> FurtherHeads() const {
    std::vector<int64_t> ids;
    for (const QueueHead& head : cluster_.View().schedule.further_heads) ids.push_back(head.job_id);
    return ids;
  }

  // Returns the promised wait of the head in seconds, without the time to save at a limit.
  int64_t PromisedWait(int64_t job) const {
    const QueueHead* head = cluster_.View().schedule.AsHead(job);
    return head == nullptr ? -1 : (head->promised - cluster_.now) / 100'000 * 100;
  }

  TestCluster cluster_;
  int64_t first_ = 0, second_ = 0;
};

class OnePromisedHeadTest : public PromisedHeadsTest {
 protected:
  OnePromisedHeadTest() : PromisedHeadsTest(1) {}
};

TEST_F(PromisedHeadsTest, EachHeadHasAPromise) {
  EXPECT_THAT(FurtherHeads(), ElementsAre(second_));
  EXPECT_EQ(PromisedWait(first_), 1000);
  EXPECT_EQ(PromisedWait(second_), 3000);
}

TEST_F(PromisedHeadsTest, NoJobDelaysTheSecondHead) {
  EXPECT_FALSE(Starts(1, 5000));
  EXPECT_FALSE(Starts(1, 0));
  EXPECT_TRUE(Starts(1, 2000)) << "ends before both heads start";
}

TEST_F(OnePromisedHeadTest, AJobMayDelayTheSecondInLine) {
  EXPECT_THAT(FurtherHeads(), IsEmpty());
  EXPECT_TRUE(Starts(1, 5000)) << "the first head does not need node b";
}

TEST_F(PromisedHeadsTest, AJobBetweenTheHeadsDelaysOnlyTheLaterOne) {
  v1::JobSpec spec = SpecOf(2, 0);
  spec.set_priority(2);
  const int64_t head = cluster_.Submit(spec);
  spec = SpecOf(1, 5000);
  spec.set_priority(1);
  const int64_t between = cluster_.Submit(spec);
  cluster_.Settle();
  EXPECT_EQ(PromisedWait(head), 1000);
  EXPECT_EQ(cluster_.StateOf(between), v1::JOB_STATE_STARTING);
  EXPECT_THAT(FurtherHeads(), ElementsAre(first_));
  EXPECT_EQ(PromisedWait(first_), 5000) << "beside the job between the heads";
}

TEST_F(PromisedHeadsTest, JobsOfOneClassCanAllBeHeads) {
  cluster_.options.promised_heads = 3;
  const int64_t third = Submit(2, 0);
  EXPECT_THAT(FurtherHeads(), ElementsAre(second_, third));
  EXPECT_THAT(cluster_.View().schedule.heads, SizeIs(1));
}

// The second head and the later job request the same slots. The later one has a limit.
TEST_F(PromisedHeadsTest, AShorterJobWithTheRequestOfAHeadStarts) {
  cluster_.options.promised_heads = 3;
  const int64_t third = Submit(1, 0);
  EXPECT_THAT(FurtherHeads(), ElementsAre(second_, third));
  EXPECT_TRUE(Starts(1, 2000));
}

TEST_F(PromisedHeadsTest, ALimitOfTheQueueMustSufficeForAllHeads) {
  SetQueue set{.request = {}, .principal = {"ada"}};
  set.request.mutable_queue()->set_name("default");
  v1::SlotQuota quota;
  quota.set_device(v1::DEVICE_KIND_CPU);
  quota.set_max_slots(7);
  *set.request.mutable_queue()->add_quotas() = quota;
  cluster_.Do(set);
  EXPECT_THAT(FurtherHeads(), ElementsAre(second_)) << "3 held slots, and 4 of the heads";
  EXPECT_FALSE(Starts(1, 2000));
}

TEST_F(PromisedHeadsTest, TheReasonOfTheSecondHeadHasItsPromise) {
  const v1::PendingReason why = WhyPending(cluster_.View(), cluster_.state.jobs.at(second_));
  EXPECT_EQ(why.code(), v1::PENDING_CODE_PRIORITY);
  EXPECT_EQ(why.blocking_job_id(), first_);
  EXPECT_EQ(why.promised_ms(), cluster_.View().schedule.AsHead(second_)->promised);
  EXPECT_THAT(why.message(), HasSubstr("second in line, behind "));
  EXPECT_THAT(why.message(), HasSubstr(". The slots of this job are free within "));
}

TEST_F(PromisedHeadsTest, APreviewKnowsAllHeads) {
  const auto starts = [&](int64_t limit_s) {
    return PreviewJob(cluster_.View(), SpecOf(1, limit_s), nullptr, {})->starts_now();
  };
  EXPECT_FALSE(starts(5000));
  EXPECT_TRUE(starts(2000));
}

// A job runs on both slots of node a. The head needs two slots on each of two nodes. The slots of
// node b are free.
class StoppingAttemptTest : public ::testing::Test {
 protected:
  StoppingAttemptTest() {
    cluster_.AddNode("a", 2);
    v1::JobSpec spec = TestSpec("runs", 1, 2);
    spec.mutable_time_limit()->set_seconds(10'000);
    spec.mutable_stop_grace()->set_seconds(1000);
    runs_ = cluster_.Submit(spec);
    cluster_.RunJob(runs_);
    cluster_.AddNode("b", 2);
    head_ = cluster_.Submit("head", 2, 2);
    cluster_.Settle();
  }

  int64_t SubmitShort() {
    v1::JobSpec spec = TestSpec("short", 1, 2);
    spec.mutable_time_limit()->set_seconds(300);
    return cluster_.Submit(spec);
  }

  TestCluster cluster_;
  int64_t runs_ = 0, head_ = 0;
};

TEST_F(StoppingAttemptTest, AJobThatEndsBeforeARunningOneStarts) {
  const int64_t job = SubmitShort();
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STARTING);
}

TEST_F(StoppingAttemptTest, NoJobTakesWhatTheHeadMayGetAtOnce) {
  cluster_.Stop(runs_);
  cluster_.Settle();
  const int64_t job = SubmitShort();
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_QUEUED);
  const QueueHead* head = cluster_.View().schedule.AsHead(head_);
  ASSERT_NE(head, nullptr);
  EXPECT_EQ(head->promised - cluster_.now, 1'000'000) << "the promise is the end of the grace";
  cluster_.ExitAll(runs_, 143);
  cluster_.ClearAll(runs_);
  EXPECT_EQ(cluster_.StateOf(head_), v1::JOB_STATE_STARTING);
}

TEST_F(StoppingAttemptTest, NoJobStartsInThePassInWhichTheHeadGetsSlots) {
  cluster_.ExitAll(runs_, 0);
  const int64_t job = SubmitShort();
  cluster_.ClearAll(runs_);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(cluster_.StateOf(head_), v1::JOB_STATE_STARTING);
}

// A cluster in which jobs of random sizes and limits are submitted, one at a time.
class RandomHeads {
 public:
  explicit RandomHeads(unsigned seed) : random_(seed) {
    cluster_.options.promised_heads = Draw(2, 4);
    for (const char* id : {"a", "b", "c", "d"}) cluster_.AddNode(id, Draw(2, 4));
  }

  // Submits a job behind all others. Fails if a promise becomes later. Returns true if the job
  // starts behind several heads.
  bool SubmitBehind() {
    const std::map<int64_t, Timestamp> before = Promised();
    v1::JobSpec spec =
        TestSpec("job-" + std::to_string(cluster_.state.next_job_id), Draw(1, 3), Draw(1, 2));
    if (Draw(0, 3) > 0) spec.mutable_time_limit()->set_seconds(100 * Draw(1, 20));
    const int64_t submitted = cluster_.Submit(spec);
    cluster_.Settle();
    const std::map<int64_t, Timestamp> after = Promised();
    for (const auto& [job, promised] : before) {
      if (cluster_.StateOf(job) == v1::JOB_STATE_STARTING) continue;
      const auto found = after.find(job);
      EXPECT_TRUE(found != after.end() && found->second <= promised) << "job " << job;
    }
    return before.size() > 1 && cluster_.StateOf(submitted) == v1::JOB_STATE_STARTING;
  }

  // Some jobs end, and others start.
  void EndSome() {
    const std::set<int64_t> live = cluster_.state.live_jobs;
    for (const int64_t job : live) {
      if (cluster_.StateOf(job) == v1::JOB_STATE_STARTING) cluster_.StartAll(job);
      if (Draw(0, 9) > 0) continue;
      cluster_.ExitAll(job, 0);
      cluster_.ClearAll(job);
    }
    cluster_.Settle();
  }

 private:
  int Draw(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }

  std::map<int64_t, Timestamp> Promised() const {
    std::map<int64_t, Timestamp> promises;
    const ClusterView view = cluster_.View();
    for (const auto& head : view.schedule.PromisedHeadsOf(view.state, v1::DEVICE_KIND_CPU)) {
      promises[head.job_id] = head.promised;
    }
    return promises;
  }

  TestCluster cluster_;
  std::mt19937 random_;
};

TEST(PromisedHeadsRandomTest, NoLaterJobMovesAPromise) {
  int started = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    RandomHeads heads(seed);
    for (int i = 0; i < 40; ++i) {
      started += heads.SubmitBehind() ? 1 : 0;
      heads.EndSome();
    }
  }
  EXPECT_GT(started, 100);
}

}  // namespace
}  // namespace trainyard::controller

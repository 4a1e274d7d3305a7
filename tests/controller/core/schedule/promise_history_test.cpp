#include "controller/core/schedule/promise_history.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/explain/pending_reason.h"
#include "controller/core/state/jobs/run_end.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kPromiseMinute = 60'000;

// Node a has two slots, on which job 1 runs for at most 1,000 s.
class PromiseHistoryTest : public ::testing::Test {
 protected:
  PromiseHistoryTest() {
    cluster_.AddNode("a", 2);
    runs_ = Submit("runs", 2, 1000);
    cluster_.RunJob(runs_);
  }

  int64_t Submit(const std::string& name, int slots, int64_t limit_s, int priority = 0) {
    v1::JobSpec spec = TestSpec(name, 1, slots);
    spec.set_priority(priority);
    if (limit_s > 0) spec.mutable_time_limit()->set_seconds(limit_s);
    return cluster_.Submit(spec);
  }

  // Continues the histories as the loop does after a tick with these events.
  void Continue(const std::vector<v1::Event>& events = {},
                std::map<int64_t, std::ptrdiff_t> placed = {}) {
    Schedule schedule = cluster_.View().schedule;
    ContinuePromises(cluster_.state, {events, std::move(placed)}, cluster_.now,
                     std::move(promises_), schedule);
    promises_ = std::move(schedule.promises);
  }

  // The running job ends this much later than its limit says, as after extensions.
  void SetExtension(int64_t extended_ms) {
    cluster_.state.jobs.at(runs_).job.mutable_time_limit_use()->set_extended_ms(extended_ms);
    UpdateRunEnd(runs_, cluster_.state);
  }

  const v1::PromiseChange& Newest(int64_t job) { return promises_.at(job).back(); }

  TestCluster cluster_;
  int64_t runs_ = 0;
  Promises promises_;
};

TEST_F(PromiseHistoryTest, TheFirstPromiseIsRecordedOnce) {
  const int64_t head = Submit("head", 2, 0);
  Continue();
  Continue();
  ASSERT_THAT(promises_.at(head), SizeIs(1));
  EXPECT_EQ(Newest(head).cause(), v1::PROMISE_CAUSE_FIRST);
  EXPECT_EQ(Newest(head).time_ms(), cluster_.now);
  EXPECT_EQ(Newest(head).promised_ms(),
            cluster_.View().schedule.heads.at(v1::DEVICE_KIND_CPU).promised);
  EXPECT_EQ(cluster_.View().schedule.heads.at(v1::DEVICE_KIND_CPU).awaited_job_id, runs_);
}

TEST_F(PromiseHistoryTest, AnExtendedLimitIsNamed) {
  const int64_t head = Submit("head", 2, 0);
  Continue();
  ExtendJob extend{.request = {}, .principal = {"ada"}};
  extend.request.set_job(std::to_string(runs_));
  extend.request.mutable_by()->set_seconds(600);
  Continue(cluster_.Do(extend));
  ASSERT_THAT(promises_.at(head), SizeIs(2));
  EXPECT_EQ(Newest(head).cause(), v1::PROMISE_CAUSE_LIMIT_EXTENDED);
  EXPECT_EQ(Newest(head).reason(), "the time limit of job 1 (runs) was extended");
  EXPECT_EQ(Newest(head).promised_ms(), promises_.at(head)[0].promised_ms() + 600'000);
}

TEST_F(PromiseHistoryTest, ALostNodeIsNamed) {
  cluster_.AddNode("b", 2);
  cluster_.RunJob(Submit("other", 2, 5000));
  const int64_t head = Submit("head", 2, 0);
  Continue();
  cluster_.StopHeartbeats("a");
  Continue(cluster_.Pass(5000, 5000));
  ASSERT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_SUSPECT);
  EXPECT_EQ(Newest(head).cause(), v1::PROMISE_CAUSE_NODE);
  EXPECT_EQ(Newest(head).reason(), "node a sends no heartbeats");
  EXPECT_GT(Newest(head).promised_ms(), cluster_.now + 4'000'000);
}

TEST_F(PromiseHistoryTest, AJobOfHigherOrderTakesThePromise) {
  const int64_t head = Submit("head", 2, 0);
  Continue();
  const int64_t urgent = Submit("urgent", 2, 100, 5);
  Continue();
  EXPECT_EQ(Newest(head).cause(), v1::PROMISE_CAUSE_JOB_AHEAD);
  EXPECT_EQ(Newest(head).promised_ms(), 0);
  EXPECT_EQ(Newest(head).reason(), "job 3 (urgent) goes first");
  EXPECT_THAT(promises_.at(urgent), SizeIs(1));
  cluster_.ExitAll(runs_, 0);
  cluster_.ClearAll(runs_);
  ASSERT_EQ(cluster_.StateOf(urgent), v1::JOB_STATE_STARTING);
  Continue({}, {{urgent, 0}});
  EXPECT_FALSE(promises_.contains(urgent)) << "it no longer waits";
  EXPECT_EQ(Newest(head).reason(), "is the first of its queue again");
  EXPECT_THAT(promises_.at(head), SizeIs(3));
}

TEST_F(PromiseHistoryTest, ALimitOfItsQueueTakesThePromise) {
  const int64_t head = Submit("head", 2, 0);
  Continue();
  SetQueue set{.request = {}, .principal = {"ada"}};
  set.request.mutable_queue()->set_name("default");
  v1::SlotQuota& quota = *set.request.mutable_queue()->add_quotas();
  quota.set_device(v1::DEVICE_KIND_CPU);
  quota.set_max_slots(3);
  Continue(cluster_.Do(set));
  ASSERT_THAT(promises_.at(head), SizeIs(2)) << "no job is the head";
  EXPECT_EQ(Newest(head).cause(), v1::PROMISE_CAUSE_QUOTA);
  EXPECT_EQ(Newest(head).reason(), "a limit of queue default keeps it waiting");
  EXPECT_EQ(Newest(head).promised_ms(), 0);
  // Another head does not change the cause.
  const int64_t small = Submit("small", 1, 0);
  promises_.at(head).pop_back();
  Continue();
  EXPECT_EQ(Newest(small).cause(), v1::PROMISE_CAUSE_FIRST);
  EXPECT_EQ(Newest(head).cause(), v1::PROMISE_CAUSE_QUOTA);
}

TEST_F(PromiseHistoryTest, AHeadBeforeAFurtherOneIsNamed) {
  cluster_.options.promised_heads = 3;
  const int64_t head = Submit("head", 2, 300);
  const int64_t second = Submit("second", 2, 0);
  Continue();
  EXPECT_EQ(Newest(head).reason(), "is the first of its queue");
  EXPECT_EQ(Newest(second).cause(), v1::PROMISE_CAUSE_FIRST);
  EXPECT_EQ(Newest(second).reason(), "is number 2 of its queue");
  const Timestamp first = Newest(second).promised_ms();
  EXPECT_GE(first, Newest(head).promised_ms() + 300'000);
  cluster_.now += 1000;
  const int64_t urgent = Submit("urgent", 2, 500, 5);
  Continue();
  EXPECT_EQ(Newest(second).cause(), v1::PROMISE_CAUSE_JOB_AHEAD);
  EXPECT_EQ(Newest(second).reason(), "job 4 (urgent) is now before it");
  EXPECT_GE(Newest(second).promised_ms(), first + 500'000);
  cluster_.now += 1000;
  SetExtension(600'000);
  Continue();
  EXPECT_EQ(Newest(urgent).cause(), v1::PROMISE_CAUSE_RUNS_LONGER);
  EXPECT_EQ(Newest(second).reason(), "the promise to job 4 (urgent) before it changed");
}

TEST_F(PromiseHistoryTest, AJobPlacedBeforeTheHeadIsNamed) {
  cluster_.AddNode("b", 1);
  const int64_t head = Submit("head", 2, 0);
  Continue();
  const int64_t before = Submit("before", 1, 5000, 5);
  SetExtension(600'000);
  Continue({}, {{before, 0}});
  EXPECT_EQ(Newest(head).cause(), v1::PROMISE_CAUSE_JOB_AHEAD);
  EXPECT_EQ(Newest(head).reason(), "job 3 (before) got slots before it");
}

TEST_F(PromiseHistoryTest, AJobThatKeepsRunningLongerIsOneChange) {
  const int64_t head = Submit("head", 2, 0);
  Continue();
  for (int i = 1; i <= 40; ++i) {
    SetExtension(i * 600'000);
    Continue();
  }
  ASSERT_THAT(promises_.at(head), SizeIs(2));
  EXPECT_EQ(Newest(head).cause(), v1::PROMISE_CAUSE_RUNS_LONGER);
  EXPECT_EQ(Newest(head).reason(), "job 1 (runs) is expected to end later");
  EXPECT_EQ(Newest(head).promised_ms(), promises_.at(head)[0].promised_ms() + 40 * 600'000);
}

TEST_F(PromiseHistoryTest, TheFirstAndTheNewestChangesAreKept) {
  const int64_t head = Submit("head", 2, 0);
  Continue();
  const Timestamp first = Newest(head).promised_ms();
  for (int i = 0; i < 40; ++i) {
    const int64_t extension = i % 2 == 0 ? 1'200'000 + i * 1000 : 0;
    SetExtension(extension);
    Continue();
  }
  ASSERT_THAT(promises_.at(head), SizeIs(kPromiseChangesKept));
  EXPECT_EQ(promises_.at(head)[0].promised_ms(), first);
  EXPECT_EQ(Newest(head).cause(), v1::PROMISE_CAUSE_ENDS_SOONER);
  EXPECT_EQ(Newest(head).promised_ms(), first);
}

TEST_F(PromiseHistoryTest, SmallChangesAreLeftOut) {
  const int64_t head = Submit("head", 2, 0);
  Continue();
  SetExtension(kPromiseMinute - 1);
  Continue();
  EXPECT_THAT(promises_.at(head), SizeIs(1));
  SetExtension(kPromiseMinute);
  Continue();
  EXPECT_THAT(promises_.at(head), SizeIs(2));
}

TEST_F(PromiseHistoryTest, AnUnknownTimeIsZero) {
  cluster_.AddNode("b", 2);
  cluster_.RunJob(Submit("unlimited", 2, 0));
  v1::JobSpec spec = TestSpec("head", 2, 2);
  const int64_t head = cluster_.Submit(spec);
  Continue();
  EXPECT_EQ(Newest(head).cause(), v1::PROMISE_CAUSE_FIRST);
  EXPECT_EQ(Newest(head).promised_ms(), 0);
}

TEST_F(PromiseHistoryTest, TheNumberOfHistoriesHasALimit) {
  for (std::size_t i = 0; i <= kPromiseHistoriesKept; ++i) {
    const int64_t job = Submit("job-" + std::to_string(i), 2, 0);
    promises_[job].emplace_back().set_promised_ms(1);
  }
  Continue();
  EXPECT_THAT(promises_, SizeIs(kPromiseHistoriesKept));
}

TEST_F(PromiseHistoryTest, ASetClockMovesAllTimes) {
  promises_[7].emplace_back().set_time_ms(100);
  promises_[7].emplace_back().set_promised_ms(200);
  ShiftPromises(50, promises_);
  EXPECT_EQ(promises_[7][0].time_ms(), 150);
  EXPECT_EQ(promises_[7][0].promised_ms(), 0) << "unknown stays unknown";
  EXPECT_EQ(promises_[7][1].promised_ms(), 250);
}

TEST_F(PromiseHistoryTest, TheReasonOfAWaitingJobHasItsPromises) {
  const int64_t head = Submit("head", 2, 0);
  Continue();
  Schedule schedule = cluster_.View().schedule;
  schedule.promises = promises_;
  const ClusterView view{cluster_.state, cluster_.observations, cluster_.options, schedule,
                         cluster_.now};
  ASSERT_THAT(WhyPending(view, cluster_.state.jobs.at(head)).promises(), SizeIs(1));
  EXPECT_THAT(WhyPending(view, cluster_.state.jobs.at(runs_)).promises(), IsEmpty());
}

}  // namespace
}  // namespace trainyard::controller

#include "controller/core/schedule/growth.h"

#include <string>

#include "controller/core/reconcile.h"
#include "controller/core/schedule/preemption.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/elastic_fixture.h"

namespace trainyard::controller {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kStepSeconds = 60;
const int64_t kIntervalMs = CoreOptions().growth_interval_ms;

// A job of 1000 steps on 2 of 2..4 nodes. Two more nodes become free.
class GrowthTest : public ElasticFixture {
 protected:
  GrowthTest() { Begin(); }

  void Begin() {
    cluster_ = TestCluster();
    AddNodes("ab");
    job_ = Run(ElasticSpec("job", 2, 4));
    AddNodes("cd");
    ReportStep(10);
  }

  void ReportStep(int64_t step) {
    for (const char* node : {"a", "b"}) cluster_.ReportRunning(node, job_, 1);
    cluster_.Pass(1000);
    cluster_.Step(job_, 0, step, kStepSeconds);
    cluster_.Step(job_, 0, step + 1, kStepSeconds);
  }

  // Moves the time to `ms` after the placement. Returns the events of one pass.
  std::vector<v1::Event> At(int64_t ms) {
    cluster_.now = cluster_.Attempt(job_).placed_time_ms() + ms;
    return GrowthNow();
  }

  std::vector<v1::Event> GrowthNow() {
    Schedule schedule = cluster_.View().schedule;
    const GrowthLimits limits{.interval_ms = cluster_.options.growth_interval_ms};
    return GrowthDue(cluster_.state, cluster_.observations, limits, cluster_.now, schedule);
  }

  int64_t job_ = 0;
};

TEST_F(GrowthTest, ItGrowsHalfAnHourAfterItsLastChange) {
  EXPECT_TRUE(At(kIntervalMs - 1).empty());
  const auto events = At(kIntervalMs);
  ASSERT_EQ(events.size(), 1U);
  const v1::Yield& yield = events[0].attempt_yielded().yield();
  EXPECT_EQ(yield.cause(), v1::YIELD_CAUSE_GROW);
  EXPECT_EQ(yield.kept_nodes_size(), 2);
  EXPECT_THAT(yield.reason(),
              HasSubstr("it can continue on 4 instead of 2 nodes, which saves about "));
}

TEST_F(GrowthTest, TheNextAttemptHasTheFreeNodes) {
  EXPECT_THAT(Kinds(cluster_.Pass(kIntervalMs, 60'000)), Contains("AttemptYielded"));
  ExitYielded(job_);
  for (const std::string& node : GangNodes(cluster_.Attempt(job_))) {
    cluster_.ForgetReport(node, job_);
  }
  cluster_.Pass(1000);
  EXPECT_EQ(cluster_.Attempt(job_).number(), 2);
  EXPECT_EQ(SizeOf(job_), 4);
  EXPECT_THAT(cluster_.Attempt(job_).size_change(), HasSubstr("grown from 2 to 4 nodes: it can"));
  EXPECT_EQ(cluster_.Job(job_).restarts(), 0);
}

TEST_F(GrowthTest, AnUnreachableNodeIsNotFree) {
  const Timestamp due = cluster_.Attempt(job_).placed_time_ms() + kIntervalMs;
  cluster_.Pass(due - 1000 - cluster_.now, 1000);
  cluster_.now = due;
  const auto events = [&] {
    return Kinds(
        Reconcile(cluster_.state, cluster_.observations, cluster_.options, cluster_.now).events);
  };
  EXPECT_THAT(events(), Contains("AttemptYielded"));
  for (const char* node : {"c", "d"}) {
    cluster_.observations.nodes.at(node).takes_commands = false;
  }
  EXPECT_THAT(events(), Not(Contains("AttemptYielded")));
}

TEST_F(GrowthTest, NothingGrowsWhileAJobWaits) {
  cluster_.Submit(TestSpec("waits", 3, 1));
  cluster_.Settle();
  EXPECT_TRUE(At(kIntervalMs).empty());
}

TEST_F(GrowthTest, AJobThatArrivesWhileItSavesComesFirst) {
  ASSERT_THAT(Kinds(cluster_.Pass(kIntervalMs, 60'000)), Contains("AttemptYielded"));
  const int64_t other = cluster_.Submit(TestSpec("other", 3, 1));
  cluster_.Settle();
  ExitYielded(job_);
  EXPECT_EQ(SizeOf(job_), 2) << "it does not grow before a job that waits";
  EXPECT_EQ(cluster_.StateOf(other), v1::JOB_STATE_QUEUED);
}

TEST_F(GrowthTest, TheGainMustExceedTheCost) {
  // Half of the remaining time is gained.
  const int64_t cost_ms =
      GrowthCostMs(cluster_.state.jobs.at(job_), cluster_.observations, cluster_.now);
  EXPECT_EQ(cost_ms, kUnknownRestartMs) << "no start and no save is known";
  const auto with_steps_left = [&](int64_t count) {
    Begin();
    cluster_.now = cluster_.Attempt(job_).placed_time_ms() + kIntervalMs - 1500;
    ReportStep(1000 - count - 1);
    cluster_.now += 500;
    return GrowthNow();
  };
  EXPECT_EQ(with_steps_left(9).size(), 1U) << "9 minutes are left, 4.5 are gained";
  EXPECT_TRUE(with_steps_left(7).empty()) << "3.5 minutes are less than twice the cost";
}

TEST_F(GrowthTest, WithoutAnExpectedEndThereIsNoGain) {
  cluster_.observations.progress.clear();
  for (auto& [key, attempt] : cluster_.observations.attempts) attempt.steps_end_ms = 0;
  EXPECT_TRUE(At(kIntervalMs).empty());
}

TEST_F(GrowthTest, TheLimitOfTheQueueBoundsIt) {
  LimitQueue(3);
  const auto events = At(kIntervalMs);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_THAT(events[0].attempt_yielded().yield().reason(), HasSubstr("on 3 instead of 2 nodes"));
  LimitQueue(2);
  EXPECT_TRUE(GrowthNow().empty());
}

TEST_F(GrowthTest, AProgramThatDoesNotSaveLosesTheWorkSinceItsCheckpoint) {
  v1::JobSpec& spec = *cluster_.state.jobs.at(job_).job.mutable_spec();
  spec.add_command("train");
  cluster_.now = cluster_.Attempt(job_).started_time_ms() + 1'000'000;
  EXPECT_EQ(GrowthCostMs(cluster_.state.jobs.at(job_), cluster_.observations, cluster_.now),
            kUnknownRestartMs + 1'000'000);
}

TEST_F(GrowthTest, AtItsMaximumNothingHappens) {
  AddNodes("efgh");
  cluster_.Stop(job_, true);
  cluster_.ExitAll(job_, 143);
  cluster_.ClearAll(job_);
  const int64_t full = Run(ElasticSpec("full", 2, 4));
  ASSERT_EQ(SizeOf(full), 4);
  cluster_.now += kIntervalMs;
  EXPECT_TRUE(GrowthNow().empty());
  EXPECT_THAT(Kinds(cluster_.Pass(2000)), Not(Contains("AttemptYielded")));
}

}  // namespace
}  // namespace trainyard::controller

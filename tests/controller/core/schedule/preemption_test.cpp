#include "controller/core/schedule/preemption.h"

#include "controller/core/apply/apply.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/schedule/expected_ends.h"
#include "controller/core/schedule/schedule.h"
#include "controller/core/state/slots/slot_ledger.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kSavedBeforeYield = 143;
constexpr PreemptionLimits kLimits;

class PreemptionTest : public ::testing::Test {
 protected:
  PreemptionTest() {
    for (const char* id : {"a", "b", "c"}) cluster_.AddNode(id, 4);
  }

  // Starts a job of trainyard-trainer, which can save.
  int64_t Run(const std::string& name, int nodes, int slots, int priority = 0) {
    v1::JobSpec spec = SparesSpec(name, nodes, slots, 0);
    spec.set_priority(priority);
    const int64_t job = cluster_.Submit(spec);
    cluster_.RunJob(job);
    return job;
  }

  int64_t Wait(int nodes, int slots, int priority = 0) {
    const std::string name = "head-" + std::to_string(cluster_.state.next_job_id);
    v1::JobSpec spec = TestSpec(name, nodes, slots);
    spec.set_priority(priority);
    return cluster_.Submit(spec);
  }

  void Later(int64_t ms = kLimits.run_ms) { cluster_.now += ms; }

  std::vector<int64_t> VictimsFor(int64_t head) const {
    const PlacementPass pass(cluster_.state, {});
    const auto ends = ExpectedEndsOf(cluster_.state, cluster_.observations, cluster_.now);
    return JobsToPreempt(cluster_.state, cluster_.state.jobs.at(head),
                         ReleasesOf(cluster_.state, pass, v1::DEVICE_KIND_CPU, ends, cluster_.now),
                         kLimits, cluster_.now)
        .job_ids;
  }

  TestCluster cluster_;
};

TEST_F(PreemptionTest, SmallJobsOfTheCheapestNodeYieldToWholeNodes) {
  const int64_t large = Run("large", 1, 4);
  const int64_t two = Run("two", 1, 2);
  const int64_t one = Run("one", 1, 1);
  const int64_t other = Run("other", 1, 2);
  const int64_t head = Wait(1, 4);
  ASSERT_EQ(cluster_.Placement(large), "a:0 a:1 a:2 a:3");
  ASSERT_EQ(cluster_.Placement(one), "b:2");
  ASSERT_EQ(cluster_.Placement(other), "c:0 c:1");
  Later();
  EXPECT_THAT(VictimsFor(head), ElementsAre(other)) << "2 slots on c are free";
  EXPECT_THAT(VictimsFor(Wait(2, 4)), ElementsAre(two, one, other));
  EXPECT_THAT(VictimsFor(Wait(3, 4)), IsEmpty()) << "`large` has more than half of a node";
}

TEST_F(PreemptionTest, AHeadOfPartsOfNodesTakesNothingFromItsEquals) {
  for (const char* name : {"r", "s", "t", "u", "v", "w"}) Run(name, 1, 2);
  Later();
  EXPECT_THAT(VictimsFor(Wait(1, 2)), IsEmpty());
  EXPECT_EQ(VictimsFor(Wait(1, 2, 1)).size(), 1U) << "a greater priority";
  EXPECT_THAT(VictimsFor(Wait(1, 4, -1)), IsEmpty()) << "a smaller priority";
}

TEST_F(PreemptionTest, AnAttemptIsSparedForTenMinutes) {
  Run("r", 3, 4);
  const int64_t head = Wait(1, 1, 1);
  Later(kLimits.run_ms - 1);
  EXPECT_THAT(VictimsFor(head), IsEmpty());
  Later(1);
  EXPECT_EQ(VictimsFor(head).size(), 1U);
}

TEST_F(PreemptionTest, AProgramThatDoesNotSaveYieldsOnlyToALowerLevel) {
  const int64_t program = cluster_.Submit(TestSpec("program", 1, 2));
  cluster_.RunJob(program);
  Run("r", 2, 4);
  Later();
  EXPECT_THAT(VictimsFor(Wait(1, 4)), IsEmpty());
  EXPECT_THAT(VictimsFor(Wait(1, 4, 1)), ElementsAre(program));
}

TEST_F(PreemptionTest, NoMoreJobsYieldThanAreNeeded) {
  const int64_t wide = Run("wide", 2, 2, -1);
  Run("x", 1, 2, 9);
  Run("y", 1, 2, 9);
  Run("z", 1, 4, 9);
  Later();
  EXPECT_THAT(VictimsFor(Wait(2, 2, 5)), ElementsAre(wide)) << "one gang on both nodes is enough";
}

TEST_F(PreemptionTest, AJobIsSparedIfTheOthersFreeANodeThatWasNotChosen) {
  Run("cheap", 1, 4, -1);
  const int64_t wide = Run("wide", 2, 4, -1);
  ASSERT_EQ(cluster_.Placement(wide), "b:0 b:1 b:2 b:3 c:0 c:1 c:2 c:3");
  Later();
  EXPECT_THAT(VictimsFor(Wait(2, 4, 5)), ElementsAre(wide)) << "its two nodes are enough";
}

TEST_F(PreemptionTest, AMeasuredRestartReplacesTheAssumedOne) {
  for (const char* name : {"r", "s", "t"}) Run(name, 1, 4);
  const int64_t head = Wait(1, 4, 1);
  Later();
  ASSERT_THAT(VictimsFor(head), ElementsAre(1)) << "all restarts are assumed to cost the same";
  v1::Job& measured = cluster_.state.jobs.at(2).job;
  EXPECT_EQ(RestartCostMs(measured), kUnknownRestartMs);
  *measured.add_attempts() = measured.attempts(0);
  v1::Attempt& before = *measured.mutable_attempts(0);
  before.set_state(v1::ATTEMPT_STATE_ENDED);
  before.set_last_step(9);
  before.mutable_time_use()->set_init_ms(2000);
  before.mutable_time_use()->set_load_ms(3000);
  EXPECT_EQ(RestartCostMs(measured), kUnknownRestartMs) << "the job has never saved to yield";
  before.set_stop_reason(v1::STOP_REASON_YIELDED);
  before.set_stopping_time_ms(cluster_.now - 7000);
  before.set_ended_time_ms(cluster_.now);
  EXPECT_EQ(RestartCostMs(measured), 12'000);
  EXPECT_THAT(VictimsFor(head), ElementsAre(2));
  before.set_stopping_time_ms(cluster_.now - 1'000'000);
  measured.mutable_spec()->mutable_stop_grace()->set_seconds(60);
  EXPECT_EQ(RestartCostMs(measured), 65'000) << "ranks are killed after stop_grace";
}

TEST_F(PreemptionTest, AHeadThatHasWaitedGetsTheSlotsAfterTheSaves) {
  std::vector<int64_t> low;
  for (const char* name : {"r", "s", "t"}) {
    low.push_back(cluster_.Submit(TestSpec(name, 1, 4)));
    cluster_.RunJob(low.back());
  }
  const int64_t head = Wait(2, 4, 1);
  EXPECT_THAT(Kinds(cluster_.Pass(kLimits.wait_ms - 1000, 1000)), IsEmpty());
  EXPECT_THAT(Kinds(cluster_.Pass(2000, 1000)), ElementsAre("AttemptYielded", "AttemptYielded"));
  EXPECT_THAT(cluster_.Attempt(low[0]).yield().reason(),
              HasSubstr("head-4 (#4) has waited 10 min for 2 nodes with 4 cpu slots each"));
  // A job of higher order does not take the slots that become free.
  v1::JobSpec urgent = TestSpec("urgent", 1, 4);
  urgent.set_priority(9);
  const int64_t overtaker = cluster_.Submit(urgent);
  for (const int64_t id : {low[0], low[1]}) {
    cluster_.ExitAll(id, kSavedBeforeYield);
    cluster_.ClearAll(id);
  }
  EXPECT_EQ(cluster_.StateOf(head), v1::JOB_STATE_STARTING);
  EXPECT_EQ(cluster_.StateOf(overtaker), v1::JOB_STATE_QUEUED);
  EXPECT_FALSE(cluster_.Job(head).preempts()) << "it has its slots";
  EXPECT_EQ(cluster_.StateOf(low[0]), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(cluster_.Job(low[0]).restarts(), 0);
}

TEST_F(PreemptionTest, JobsOnNodesThatTheHeadCannotUseKeepTheirSlots) {
  std::vector<int64_t> low;
  for (const char* name : {"r", "s", "t"}) low.push_back(Run(name, 1, 4));
  CordonNode cordon{.request = {}, .principal = {"ada"}};
  cordon.request.set_node("a");
  cordon.request.set_cordoned(true);
  cluster_.Do(cordon);
  Wait(3, 4, 1);
  EXPECT_THAT(Kinds(cluster_.Pass(kLimits.wait_ms + 5000, 1000)), IsEmpty())
      << "two nodes do not suffice";
  Wait(2, 4, 2);
  EXPECT_THAT(Kinds(cluster_.Pass(kLimits.wait_ms + 5000, 1000)),
              ElementsAre("AttemptYielded", "AttemptYielded"));
  ASSERT_EQ(cluster_.Placement(low[0]), "a:0 a:1 a:2 a:3");
  EXPECT_FALSE(cluster_.Attempt(low[0]).has_yield()) << "its node is cordoned";
}

TEST_F(PreemptionTest, NoMoreJobsYieldWhileTheFirstOnesSave) {
  for (const char* name : {"r", "s", "t"}) {
    v1::JobSpec spec = TestSpec(name, 1, 4);
    spec.mutable_stop_grace()->set_seconds(3600);
    cluster_.RunJob(cluster_.Submit(spec));
  }
  const int64_t head = Wait(1, 4, 1);
  EXPECT_FALSE(AnyYieldsFor(cluster_.state, head));
  EXPECT_THAT(Kinds(cluster_.Pass(3 * kLimits.wait_ms, 1000)), ElementsAre("AttemptYielded"));
  EXPECT_TRUE(AnyYieldsFor(cluster_.state, head));
}

TEST_F(PreemptionTest, AJobKeepsItsSlotsIfAnEarlierAttemptHasThoseOfTheNode) {
  Run("r", 3, 4);
  const int64_t head = Wait(1, 4, 1);
  Later();
  ASSERT_EQ(VictimsFor(head).size(), 1U);
  for (auto& [id, entry] : cluster_.state.nodes) {
    for (v1::SlotUse& use : *entry.node.mutable_slot_uses()) use.set_attempt(9);
  }
  RebuildIndexes(cluster_.state);
  EXPECT_THAT(VictimsFor(head), IsEmpty());
}

TEST_F(PreemptionTest, AJobThatCannotSaveNowIsNoVictim) {
  const int64_t job = Run("r", 3, 4);
  const int64_t head = Wait(1, 4, 1);
  Later();
  cluster_.state.jobs.at(job).first_failure_ms = cluster_.now;
  EXPECT_THAT(VictimsFor(head), IsEmpty());
}

TEST_F(PreemptionTest, AJobIsPreemptedThreeTimesADayAtMost) {
  const int64_t job = Run("r", 3, 4);
  v1::Job& stored = cluster_.state.jobs.at(job).job;
  const v1::Attempt live = stored.attempts(0);
  Later();
  for (int i = 0; i < kLimits.per_window; ++i) {
    v1::Attempt& before = stored.mutable_attempts()->at(i);
    before.set_state(v1::ATTEMPT_STATE_ENDED);
    before.set_stopping_time_ms(cluster_.now);
    before.mutable_yield()->set_cause(v1::YIELD_CAUSE_PREEMPTED);
    *stored.add_attempts() = live;
  }
  const int64_t head = Wait(1, 1, 1);
  EXPECT_THAT(VictimsFor(head), IsEmpty());
  Later(kLimits.window_ms);
  EXPECT_THAT(VictimsFor(head), ElementsAre(job));
}

}  // namespace
}  // namespace trainyard::controller

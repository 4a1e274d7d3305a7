// Tests which ranks a hang's verdict and alert name.
#include "controller/core/health/hang_watch.h"

#include <optional>
#include <string>

#include "controller/core/health/gang_limit.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;

// A gang with one rank per node, trained to step 100. The limit is 15 s.
class HangCulpritTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // A time so large that no reported time without a step reaches back before time 0.
    cluster_.now += 100'000'000;
    cluster_.observations.since_ms = cluster_.now;
    cluster_.measures = false;
  }

  void Submit(int ranks, v1::WatchdogAction action) {
    ranks_ = ranks;
    for (int i = 0; i < ranks; ++i) cluster_.AddNode(std::string(1, static_cast<char>('a' + i)), 1);
    v1::JobSpec spec = TestSpec("job", ranks, 1);
    spec.mutable_watchdog()->set_action(action);
    spec.mutable_watchdog()->mutable_min_stall()->set_seconds(15);
    spec.mutable_watchdog()->set_factor(3);
    job_ = cluster_.Submit(spec);
    cluster_.Settle();
  }
  void Run(int ranks, v1::WatchdogAction action = v1::WATCHDOG_ACTION_RESTART) {
    Submit(ranks, action);
    cluster_.StartAll(job_);
    for (int rank = 0; rank < ranks; ++rank) {
      Rank(rank).set_running(true);
      Rank(rank).set_phase("train");
      Rank(rank).set_step(100);
      Rank(rank).set_slow_step_ms(1000);
    }
    cluster_.Pass(5000);
  }

  v1::RankReport& Rank(int rank) {
    v1::AttemptReport& report = cluster_.Report(cluster_.Attempt(job_).ranks(rank).node_id(), job_);
    if (report.ranks().empty()) report.add_ranks()->set_rank(rank);
    return *report.mutable_ranks(0);
  }
  // Lets `ms` milliseconds pass in which no rank completes a step or writes output.
  void Still(int64_t ms) {
    for (int rank = 0; rank < ranks_; ++rank) {
      Rank(rank).set_still_ms(ms);
      Rank(rank).set_quiet_ms(ms);
    }
    cluster_.Pass(500);
  }
  std::optional<Hang> Find() const {
    return FindHang(cluster_.state, cluster_.observations, cluster_.options,
                    cluster_.state.jobs.at(job_), cluster_.now);
  }
  AttemptObservation& Observed() { return cluster_.observations.attempts.begin()->second; }
  bool IsStopped() const { return cluster_.Attempt(job_).has_verdict(); }
  const v1::Verdict& Verdict() const { return cluster_.Attempt(job_).verdict(); }

  TestCluster cluster_;
  int ranks_ = 0;
  int64_t job_ = 0;
};

TEST_F(HangCulpritTest, TheOnlyRankOfAGangIsTheCulprit) {
  Run(1);
  Still(16'000);
  EXPECT_EQ(Verdict().summary(),
            "the gang stalled: no step for 16 s after step 100 (limit 15 s) (rank 0 on a)");
  EXPECT_EQ(Verdict().rank(), 0);
  EXPECT_EQ(Verdict().node_id(), "a");
}

TEST_F(HangCulpritTest, TwoRanksInTheSamePlaceAreBothNamed) {
  Run(2);
  Still(16'000);
  EXPECT_EQ(Verdict().summary(),
            "the gang stalled: no step for 16 s after step 100 (limit 15 s); no report shows which "
            "rank is blocking the others");
  EXPECT_EQ(Verdict().rank(), -1);
  EXPECT_EQ(Verdict().node_id(), "");
  EXPECT_THAT(Verdict().ranks(), ElementsAre(0, 1));
}

TEST_F(HangCulpritTest, OneOfThreeRanksInAnotherPhaseIsTheCulprit) {
  Run(3);
  cluster_.observations.longest_phase_ms[job_]["eval"] = 1000;
  Rank(1).set_phase("eval");
  Still(0);
  Still(kShortestPhaseLimitMs + 1);
  EXPECT_THAT(Verdict().ranks(), ElementsAre(1));
}

TEST_F(HangCulpritTest, HalfOfTheRanksInAnotherPhaseAreNoMinority) {
  Run(4);
  cluster_.observations.longest_phase_ms[job_]["eval"] = 1000;
  for (const int rank : {1, 2}) Rank(rank).set_phase("eval");
  Still(0);
  Still(kShortestPhaseLimitMs + 1);
  EXPECT_THAT(Verdict().ranks(), ElementsAre(0, 1, 2, 3));
}

TEST_F(HangCulpritTest, AnEarlierStepIsNoEvidenceWhereStepsAreShort) {
  Run(3);
  for (const int rank : {0, 2}) Rank(rank).set_step(101);
  Still(16'000);
  EXPECT_THAT(Verdict().ranks(), ElementsAre(0, 1, 2));
}

// The fact that rank 0 exited arrives before the report without rank 0.
TEST_F(HangCulpritTest, ARankThatIsReportedToMoveKeepsItsGangAlive) {
  Run(4);
  for (const int rank : {1, 2, 3}) {
    v1::FlightRecord& flight = *Rank(rank).mutable_newest()->add_flights();
    flight.set_group("dp0");
    flight.set_ranks("0-3");
    flight.set_sequence(17);
    flight.set_operation("all-reduce");
    flight.set_entered_ms(1);
    Rank(rank).set_still_ms(20'000);
  }
  cluster_.ExitRank(job_, 0, 0);
  Rank(0).set_still_ms(15'000);
  cluster_.Pass(500);
  EXPECT_FALSE(IsStopped());
  Rank(0).set_still_ms(15'001);
  cluster_.Pass(500);
  EXPECT_TRUE(IsStopped());
}

TEST_F(HangCulpritTest, ARankThatIsReportedAndDoesNotRunHasNotStarted) {
  Submit(2, v1::WATCHDOG_ACTION_RESTART);
  cluster_.StartRank(job_, 0);
  Rank(1).set_running(false);
  cluster_.Pass(cluster_.options.start_lease_ms);
  EXPECT_FALSE(IsStopped());
  cluster_.Pass(500);
  ASSERT_TRUE(IsStopped());
  EXPECT_EQ(Verdict().rank(), 1);
}

TEST_F(HangCulpritTest, AGangWithAnUnreportedRankDoesNotHang) {
  Run(2, v1::WATCHDOG_ACTION_ALERT);
  Still(16'000);
  ASSERT_TRUE(Find().has_value());
  Observed().ranks.erase(1);
  EXPECT_FALSE(Find().has_value());
}

TEST_F(HangCulpritTest, AGangWithoutAKnownTimeOfProgressDoesNotHang) {
  Run(2, v1::WATCHDOG_ACTION_ALERT);
  Still(16'000);
  for (auto& [place, rank] : Observed().ranks) rank.still_since_ms = 0;
  EXPECT_FALSE(Find().has_value());
}

TEST_F(HangCulpritTest, TheVerdictBlamesTheNodeOfTheFirstCulprit) {
  Submit(3, v1::WATCHDOG_ACTION_RESTART);
  const v1::Attempt& attempt = cluster_.Attempt(job_);
  v1::Verdict expected;
  expected.set_cause(v1::VERDICT_CAUSE_STALLED);
  expected.set_rank(1);
  expected.set_node_id(attempt.ranks(1).node_id());
  expected.add_ranks(1);
  expected.add_ranks(2);
  expected.set_summary("the gang stalled: no step");
  expected.set_restartable(true);
  expected.set_time_ms(77);
  Hang hang{.step = 7, .ranks = {1, 2}, .evidence = "no step"};
  EXPECT_EQ(HungVerdict(attempt, hang, 77).DebugString(), expected.DebugString());
  hang.left_early = true;
  expected.clear_node_id();
  EXPECT_EQ(HungVerdict(attempt, hang, 77).DebugString(), expected.DebugString());
}

TEST_F(HangCulpritTest, TheAlertHasTheEvidenceAndIsRaisedOncePerStep) {
  Submit(1, v1::WATCHDOG_ACTION_ALERT);
  JobEntry& entry = cluster_.state.jobs.at(job_);
  const Hang hang{.step = 7, .ranks = {0}, .evidence = "no step"};
  v1::AlertRaised expected;
  expected.set_job_id(job_);
  expected.set_attempt(1);
  expected.set_step(7);
  expected.set_code("stalled");
  expected.set_message("no step");
  expected.set_by_watchdog(true);
  entry.watched = {1, 6};
  ASSERT_TRUE(HangAlert(entry, hang).has_value());
  EXPECT_EQ(HangAlert(entry, hang)->DebugString(), expected.DebugString());
  entry.watched = {1, 7};
  EXPECT_FALSE(HangAlert(entry, hang).has_value());
}

}  // namespace
}  // namespace trainyard::controller

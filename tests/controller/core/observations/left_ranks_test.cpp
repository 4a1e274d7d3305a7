#include "controller/core/observations/left_ranks.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/gang_scenes.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A gang of four ranks on two nodes that has completed 41 steps.
class LeftRanksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* id : {"a", "b"}) cluster_.AddNode(id, 2);
    v1::JobSpec spec = TestSpec("job", 2, 2);
    spec.mutable_watchdog()->set_action(v1::WATCHDOG_ACTION_RESTART);
    spec.mutable_watchdog()->mutable_min_stall()->set_seconds(15);
    spec.mutable_watchdog()->set_factor(3);
    job_ = cluster_.Submit(spec);
    cluster_.RunJob(job_);
    for (const int rank : {0, 1, 2, 3}) Say(rank, 41);
    cluster_.Pass(5000);
  }

  v1::RankReport& Rank(int rank) {
    v1::AttemptReport& report = cluster_.Report(rank < 2 ? "a" : "b", job_);
    while (report.ranks_size() < 2) report.add_ranks()->set_running(true);
    report.mutable_ranks(rank % 2)->set_rank(rank);
    return *report.mutable_ranks(rank % 2);
  }
  void Say(int rank, int64_t step) {
    Rank(rank).set_phase("train");
    Rank(rank).set_step(step);
    Rank(rank).set_slow_step_ms(2000);
  }
  void Leave(int rank, int exit_code = 0) {
    Rank(rank).set_running(false);
    cluster_.ExitRank(job_, rank, exit_code);
  }
  void Wait(int rank) {
    v1::FlightRecord& flight = *Rank(rank).mutable_newest()->add_flights();
    flight.set_group("dp0");
    flight.set_ranks("0-3");
    flight.set_sequence(42);
    flight.set_operation("all-reduce");
    flight.set_entered_ms(1);
  }

  const AttemptObservation& Observed() const {
    return cluster_.observations.attempts.begin()->second;
  }
  std::optional<LeftRanks> Find() const {
    return FindLeftRanks(Observed(), cluster_.state.jobs.at(job_));
  }
  std::string Text() const { return LeftRanksText(Observed(), *Find()); }
  const v1::Verdict& Verdict() const { return cluster_.Job(job_).attempts(0).verdict(); }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(LeftRanksTest, NothingWhileAllRunAndOnceAllHaveLeft) {
  EXPECT_FALSE(Find().has_value());
  for (const int rank : {0, 1, 2, 3}) Leave(rank);
  EXPECT_FALSE(Find().has_value());
}

TEST_F(LeftRanksTest, ARankThatFailedHasNotLeft) {
  Leave(2, 69);
  EXPECT_THAT(PlacesLeft(cluster_.state.jobs.at(job_)), IsEmpty());
  EXPECT_FALSE(Find().has_value());
}

TEST_F(LeftRanksTest, TheRankThatLeftBeforeTheOthersStepIsTheCulprit) {
  for (const int rank : {0, 1, 3}) Wait(rank);
  cluster_.Pass(1000);
  Leave(2);
  EXPECT_THAT(Find()->left, ElementsAre(2));
  EXPECT_THAT(Find()->staying, ElementsAre(0, 1, 3));
  EXPECT_THAT(Find()->culprits, ElementsAre(2));
  EXPECT_TRUE(Find()->left_early);
  EXPECT_EQ(Text(),
            "rank 2 exited with 0 at step 41 while ranks 0,1,3 wait in all-reduce 42 of group dp0");
  cluster_.Pass(20'000);
  EXPECT_EQ(Verdict().cause(), v1::VERDICT_CAUSE_STALLED);
  EXPECT_EQ(Verdict().rank(), 2);
  EXPECT_EQ(Verdict().node_id(), "") << "a rank that ran out of data is no fault of its node";
  EXPECT_THAT(Verdict().summary(), HasSubstr(Text()));
  EXPECT_EQ(cluster_.state.nodes.at("b").node.evidence_size(), 0);
}

TEST_F(LeftRanksTest, OneWaitingRankIsNamedInTheSingular) {
  Wait(0);
  cluster_.Pass(1000);
  for (const int rank : {1, 2, 3}) Leave(rank);
  EXPECT_EQ(Text(),
            "ranks 1-3 exited with 0 at step 41 while rank 0 waits in all-reduce 42 of group dp0");
}

TEST_F(LeftRanksTest, RanksThatStayAtTheSameStepAreTheCulprits) {
  for (const int rank : {0, 1, 3}) Leave(rank);
  EXPECT_THAT(Find()->culprits, ElementsAre(2));
  EXPECT_FALSE(Find()->left_early);
  EXPECT_EQ(Text(),
            "ranks 0,1,3 exited with 0 at step 41 while rank 2 still runs (step 41, train)");
  cluster_.Pass(130'000);
  EXPECT_EQ(Verdict().rank(), 2);
  EXPECT_EQ(Verdict().node_id(), "b");
}

TEST_F(LeftRanksTest, StepsThatRemainShowWhoLeftEarly) {
  cluster_.observations.attempts.begin()->second.total_steps = 100;
  Leave(2);
  EXPECT_THAT(Find()->culprits, ElementsAre(2));
  Leave(1);
  EXPECT_THAT(Find()->culprits, ElementsAre(1, 2));
  Leave(0);
  EXPECT_THAT(Find()->culprits, ElementsAre(3)) << "the program ended before its last step";
  cluster_.observations.attempts.begin()->second.total_steps = 41;
  EXPECT_THAT(Find()->culprits, ElementsAre(3));
}

TEST_F(LeftRanksTest, AtTheLastStepThoseThatStayAreTheCulprits) {
  cluster_.observations.attempts.begin()->second.total_steps = 41;
  Leave(2);
  EXPECT_THAT(Find()->culprits, ElementsAre(0, 1, 3));
}

TEST_F(LeftRanksTest, AnEarlierStepShowsWhoLeftEarlyWhereStepsAreLong) {
  for (const int rank : {0, 1, 3}) Say(rank, 42);
  cluster_.Pass(1000);
  Leave(2);
  EXPECT_THAT(Find()->culprits, ElementsAre(2));
  for (const int rank : {0, 1, 2, 3}) Rank(rank).set_slow_step_ms(1499);
  cluster_.Pass(1000);
  EXPECT_THAT(Find()->culprits, ElementsAre(0, 1, 3)) << "a step is written once a second at most";
  for (const int rank : {0, 1, 2, 3}) Rank(rank).set_slow_step_ms(1500);
  cluster_.Pass(1000);
  EXPECT_THAT(Find()->culprits, ElementsAre(2));
}

TEST_F(LeftRanksTest, ARankWithoutStepsIsNotEarly) {
  cluster_.observations.attempts.begin()->second.ranks.at(2).step = 0;
  Rank(2).set_step(0);
  Leave(2);
  EXPECT_THAT(Find()->culprits, ElementsAre(0, 1, 3));
  EXPECT_EQ(Text(), "rank 2 exited with 0 while ranks 0,1,3 still run (step 41, train)");
}

TEST_F(LeftRanksTest, WhyNamesWhoLeftAndWhoStays) {
  const auto why = [&] {
    return WhyRanksStay(cluster_.observations, cluster_.state.jobs.at(job_), cluster_.now);
  };
  EXPECT_FALSE(why().has_value());
  Leave(0);
  EXPECT_FALSE(why().has_value()) << "its worker has not reported it yet";
  cluster_.Pass(5500);
  EXPECT_FALSE(why().has_value()) << "the others may be about to leave";
  cluster_.Pass(500);
  ASSERT_TRUE(why().has_value());
  EXPECT_EQ(why()->word(), v1::HEALTH_WORD_STALLED);
  EXPECT_EQ(why()->since_ms(), cluster_.now - 5500);
  EXPECT_THAT(why()->ranks(), ElementsAre(1, 2, 3));
  EXPECT_EQ(why()->message(),
            "rank 0 exited with 0 at step 41 while ranks 1-3 still run (step 41, train); probably "
            "ranks 1-3 stalled after the last step");
  EXPECT_THAT(why()->advice(), HasSubstr("--rank 1 "));
  cluster_.Stop(job_);
  EXPECT_FALSE(why().has_value());
}

TEST_F(LeftRanksTest, RanksOfAHealthyGangExitWithinFiveSeconds) {
  const auto is_reported = [&] {
    return WhyRanksStay(cluster_.observations, cluster_.state.jobs.at(job_), cluster_.now)
        .has_value();
  };
  Leave(0);
  cluster_.Pass(500);
  cluster_.now += 5000;
  EXPECT_FALSE(is_reported());
  cluster_.now += 1;
  EXPECT_TRUE(is_reported());
}

TEST_F(LeftRanksTest, AnUnobservedRankLeftLongAgoAtNoKnownStep) {
  Leave(0);
  cluster_.observations.attempts.begin()->second.ranks.erase(0);
  const auto why = WhyRanksStay(cluster_.observations, cluster_.state.jobs.at(job_), cluster_.now);
  ASSERT_TRUE(why.has_value());
  EXPECT_EQ(why->message(),
            "rank 0 exited with 0 while ranks 1-3 still run (step 41, train); either the data of "
            "rank 0 ended early (uneven data) or ranks 1-3 stalled after the last step");
  cluster_.observations.attempts.clear();
  EXPECT_FALSE(
      WhyRanksStay(cluster_.observations, cluster_.state.jobs.at(job_), cluster_.now).has_value());
}

TEST_F(LeftRanksTest, AWaitForAnotherRankLeavesTheEvidenceOfTheSteps) {
  for (const int rank : {0, 1, 2}) Say(rank, 42);
  Wait(0);
  Rank(0).mutable_newest()->mutable_flights(0)->set_ranks("0,1");
  cluster_.Pass(1000);
  Leave(3);
  EXPECT_THAT(Find()->wait->missing, ElementsAre(1));
  EXPECT_THAT(Find()->culprits, ElementsAre(3));
}

TEST_F(LeftRanksTest, TheFirstStepIsAStep) {
  const auto set_steps = [&](int64_t left, int64_t others) {
    for (auto& [place, rank] : cluster_.observations.attempts.begin()->second.ranks) {
      rank.step = place == 2 ? left : others;
    }
  };
  Leave(2);
  set_steps(1, 2);
  EXPECT_THAT(Find()->culprits, ElementsAre(2)) << "it left before step 2";
  EXPECT_EQ(Text(), "rank 2 exited with 0 at step 1 while ranks 0,1,3 still run (step 2, train)");
  set_steps(0, 0);
  EXPECT_THAT(Find()->culprits, ElementsAre(0, 1, 3)) << "nobody knows how many steps there are";
  cluster_.observations.attempts.begin()->second.total_steps = 1;
  EXPECT_THAT(Find()->culprits, ElementsAre(2)) << "it left before the only step";
}

TEST_F(LeftRanksTest, TheReasonTellsUnevenDataFromAHang) {
  const auto reason = [&] { return LeftRanksReason(Observed(), cluster_.Job(job_), *Find()); };
  AttemptObservation& observed = cluster_.observations.attempts.begin()->second;
  observed.total_steps = 100;
  Leave(2);
  EXPECT_EQ(reason(), "; probably the data of rank 2 ended early (uneven data)");
  observed.total_steps = 41;
  EXPECT_EQ(reason(), "; probably ranks 0,1,3 stalled after the last step");
  observed.total_steps = 0;
  EXPECT_EQ(reason(), "; probably ranks 0,1,3 stalled after the last step") << "no rank is ahead";
  Leave(0);
  Leave(1);
  EXPECT_EQ(reason(), "; probably rank 3 stalled after the last step");
  observed.ranks.at(3).phase = "checkpoint";
  EXPECT_EQ(reason(), "") << "it may still save";
}

// The log parser reads only one rank, so the steps of the other ranks are unknown.
TEST_F(LeftRanksTest, IfOnlyTheStayingRankReportsStepsBothReasonsArePossible) {
  AttemptObservation& observed = cluster_.observations.attempts.begin()->second;
  for (auto& [place, rank] : observed.ranks) rank.phase = "";
  for (const int rank : {1, 2, 3}) observed.ranks.at(rank).step = 0;
  for (const int rank : {1, 2, 3}) Leave(rank);
  EXPECT_EQ(Text(), "ranks 1-3 exited with 0 while rank 0 still runs (step 41)");
  EXPECT_EQ(LeftRanksReason(observed, cluster_.Job(job_), *Find()),
            "; either the data of ranks 1-3 ended early (uneven data) or rank 0 stalled after the "
            "last step");
}

TEST_F(LeftRanksTest, StepsAndPhasesThatNoRankReportsAreNotNamed) {
  Leave(2);
  for (auto& [place, rank] : cluster_.observations.attempts.begin()->second.ranks) {
    rank.step = 0;
    rank.phase = "";
  }
  EXPECT_EQ(Text(), "rank 2 exited with 0 while ranks 0,1,3 still run");
  cluster_.observations.attempts.begin()->second.ranks.erase(0);
  EXPECT_EQ(Text(), "rank 2 exited with 0 while ranks 0,1,3 still run");
}

}  // namespace
}  // namespace trainyard::controller

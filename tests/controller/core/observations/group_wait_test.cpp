#include "controller/core/observations/group_wait.h"

#include "controller/core/explain/explain.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A rank's report about a group.
struct Said {
  int rank;
  const char* group;
  const char* ranks;
  int64_t sequence;
  bool waits;
};

v1::FlightRecord Flight(const Said& said) {
  v1::FlightRecord flight;
  flight.set_group(said.group);
  flight.set_ranks(said.ranks);
  flight.set_sequence(said.sequence);
  if (said.waits) flight.set_operation("all-reduce");
  if (said.waits) flight.set_entered_ms(1'700'000'000'000);
  return flight;
}

AttemptObservation Attempt(const std::vector<Said>& words) {
  AttemptObservation attempt;
  for (const Said& said : words) {
    *attempt.ranks[said.rank].newest.add_flights() = Flight(said);
  }
  return attempt;
}

TEST(GroupWaitTest, ARankThatSaysNothingIsMissing) {
  const auto wait =
      FindGroupWait(Attempt({{0, "dp0", "0-2", 7, true}, {1, "dp0", "0-2", 7, true}}), 4);
  ASSERT_TRUE(wait.has_value());
  EXPECT_EQ(wait->group, "dp0");
  EXPECT_EQ(wait->sequence, 7);
  EXPECT_THAT(wait->waiting, ElementsAre(0, 1));
  EXPECT_THAT(wait->missing, ElementsAre(2));
  EXPECT_THAT(wait->culprits, ElementsAre(2));
}

TEST(GroupWaitTest, ARankThatHasNotComeToTheOperationIsMissing) {
  const auto wait =
      FindGroupWait(Attempt({{0, "tp0", "0,1", 7, true}, {1, "tp0", "0,1", 7, false}}), 4);
  ASSERT_TRUE(wait.has_value());
  EXPECT_THAT(wait->culprits, ElementsAre(1));
}

TEST(GroupWaitTest, ARankInAnEarlierOperationIsMissing) {
  const auto wait =
      FindGroupWait(Attempt({{0, "tp0", "0,1", 7, true}, {1, "tp0", "0,1", 6, true}}), 4);
  ASSERT_TRUE(wait.has_value());
  EXPECT_THAT(wait->missing, ElementsAre(1));
}

// Rank 1 waits for rank 0, which waits for rank 2 in another group.
TEST(GroupWaitTest, TheCauseIsTheRankThatWaitsForNobody) {
  const auto wait = FindGroupWait(Attempt({{1, "act0to1", "0,1", 3, true},
                                           {0, "act0to1", "0,1", 3, false},
                                           {0, "dp0", "0,2", 9, true},
                                           {1, "dp1", "1,3", 9, false}}),
                                  4);
  ASSERT_TRUE(wait.has_value());
  EXPECT_EQ(wait->group, "dp0");
  EXPECT_THAT(wait->culprits, ElementsAre(2));
}

TEST(GroupWaitTest, OfRanksThatWaitForEachOtherAMissingOneIsNamed) {
  const auto wait = FindGroupWait(Attempt({{0, "a", "0,1", 1, true},
                                           {1, "a", "0,1", 1, false},
                                           {1, "b", "0,1", 1, true},
                                           {0, "b", "0,1", 1, false}}),
                                  4);
  ASSERT_TRUE(wait.has_value());
  EXPECT_THAT(wait->culprits, ElementsAre(1));
}

// Rank 0 computes; the state of rank 2 is unknown.
TEST(GroupWaitTest, ARankThatComputesWaitsForNobody) {
  const auto wait = FindGroupWait(
      Attempt({{1, "a", "0,1", 3, true}, {0, "a", "0,1", 3, false}, {3, "b", "2,3", 3, true}}), 4);
  ASSERT_TRUE(wait.has_value());
  EXPECT_EQ(wait->group, "a");
  EXPECT_THAT(wait->culprits, ElementsAre(0));
}

TEST(GroupWaitTest, TheOperationOfTheLowestRankIsNamedIfOperationsDiffer) {
  AttemptObservation attempt = Attempt({{0, "a", "0-2", 3, true}, {1, "a", "0-2", 3, true}});
  attempt.ranks[1].newest.mutable_flights(0)->set_operation("broadcast");
  const auto wait = FindGroupWait(attempt, 3);
  ASSERT_TRUE(wait.has_value());
  EXPECT_EQ(wait->operation, "all-reduce");
}

// A program may report a group with ranks that its gang does not have. Such ranks must be ignored.
TEST(GroupWaitTest, RanksThatTheGangDoesNotHaveAreNotMissed) {
  const auto of = [](const char* ranks) { return Attempt({{0, "g", ranks, 1, true}}); };
  EXPECT_FALSE(FindGroupWait(of("100000"), 1).has_value());
  EXPECT_FALSE(FindGroupWait(of("0,1-1048575"), 1).has_value());
  EXPECT_THAT(FindGroupWait(of("0-1048575"), 3)->culprits, ElementsAre(1, 2));
}

TEST(GroupWaitTest, NobodyIsMissingWhereAllHaveCome) {
  EXPECT_FALSE(FindGroupWait(Attempt({}), 4).has_value());
  const std::vector<Said> all = {{0, "tp0", "0,1", 7, true}, {1, "tp0", "0,1", 7, true}};
  EXPECT_FALSE(FindGroupWait(Attempt(all), 4).has_value());
  const std::vector<Said> none = {{0, "tp0", "0,1", 7, false}, {1, "tp0", "0,1", 7, false}};
  EXPECT_FALSE(FindGroupWait(Attempt(none), 4).has_value()) << "all compute";
}

class StalledTest : public ::testing::Test {
 protected:
  StalledTest() {
    cluster_.AddNode("a", 2);
    job_ = cluster_.Submit(TestSpec("job", 1, 2));
    cluster_.RunJob(job_);
  }

  // If `waits` is true, rank 0 reports that it waits. If not, rank 0 reports progress.
  void Report(bool waits) {
    v1::RankRecord& newest =
        *cluster_.ReportRunning("a", job_, 2).mutable_ranks(0)->mutable_newest();
    newest.set_step(5);
    if (waits) *newest.add_flights() = Flight({0, "tp0", "0,1", 7, true});
    cluster_.Pass(1000);
  }

  v1::WhyJobResponse Why() const {
    return ExplainJob(cluster_.View(), cluster_.state.jobs.at(job_));
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(StalledTest, WhyNamesTheRankTheOperationAndTheNextStep) {
  Report(true);
  const v1::WhyJobResponse why = Why();
  EXPECT_EQ(why.pending().code(), v1::PENDING_CODE_STALLED);
  EXPECT_EQ(
      why.pending().message(),
      "rank 1 has not reached all-reduce 7 of group tp0 (ranks 0,1); rank 0 is waiting for it");
  EXPECT_THAT(why.pending().advice(), HasSubstr("`trainyard logs 1 --rank 1"));
  EXPECT_THAT(why.answer(), HasSubstr("rank 1 has not reached all-reduce 7"));
}

TEST_F(StalledTest, EndsWhenTheRankMoves) {
  Report(true);
  Report(false);
  EXPECT_NE(Why().pending().code(), v1::PENDING_CODE_STALLED);
}

// The ledger and the node evidence use the same stall rule (stall.h), so neither may count a slow
// gang as stalled.
TEST_F(StalledTest, AGangThatIsOnlySlowHasNotStalled) {
  cluster_.Step(job_, 0, 4, 10);
  cluster_.Step(job_, 0, 5, 10);
  Report(true);
  cluster_.Pass(25'000);
  EXPECT_NE(Why().pending().code(), v1::PENDING_CODE_STALLED) << "a step takes 10 s";
  cluster_.Pass(5'000);
  EXPECT_EQ(Why().pending().code(), v1::PENDING_CODE_STALLED);
}

TEST_F(StalledTest, OnlyRunningJobsHaveIt) {
  Report(true);
  cluster_.Stop(job_);
  EXPECT_NE(Why().pending().code(), v1::PENDING_CODE_STALLED);
}

}  // namespace
}  // namespace trainyard::controller

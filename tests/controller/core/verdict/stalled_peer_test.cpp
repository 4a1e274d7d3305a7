#include "controller/core/verdict/stalled_peer.h"

#include <string>
#include <vector>

#include "controller/core/verdict/failure_policy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/contract/exit_code.h"

namespace trainyard::controller {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Four ranks on nodes n0 to n3. The gang stalled at 10 s, after step 47: ranks 0 to 2 waited for
// rank 3. At 610 s, ranks 0 to 2 exited because they lost a peer.
class StalledPeerTest : public ::testing::Test {
 protected:
  StalledPeerTest() {
    entry_.job.set_id(1);
    entry_.first_failure_ms = 610'000;
    v1::Attempt& attempt = *entry_.job.add_attempts();
    attempt.set_number(1);
    attempt.set_state(v1::ATTEMPT_STATE_RUNNING);
    for (const int rank : {0, 1, 2, 3}) {
      const std::string node = "n" + std::to_string(rank);
      state_.nodes[node].node.set_name(node);
      v1::RankPlacement& placed = *attempt.add_ranks();
      placed.set_rank(rank);
      placed.set_node_id(node);
    }
    for (const int rank : {0, 1, 2}) ExitWith(rank, ExitCode::kPeerLost);
    AttemptObservation& observed = observations_.attempts[{1, 1}];
    observed.stall = Stall{10'000, 0};
    for (const int rank : {0, 1, 2, 3}) observed.ranks[rank].step = 47;
    for (const int rank : {0, 1, 2}) Wait(rank);
  }

  void ExitWith(int rank, ExitCode code) {
    v1::RankExited& exited = entry_.exited_ranks[rank];
    exited.set_rank(rank);
    exited.set_exit_code(static_cast<int>(code));
    exited.set_time_ms(610'000 + rank);
  }

  void Wait(int rank) {
    v1::FlightRecord& flight = *Observed().ranks[rank].newest.add_flights();
    flight.set_group("dp0");
    flight.set_ranks("0-3");
    flight.set_sequence(1380);
    flight.set_operation("all-reduce");
    flight.set_entered_ms(1);
  }

  AttemptObservation& Observed() { return observations_.attempts[{1, 1}]; }

  v1::Verdict Judge() {
    const auto verdict = JudgeExits(state_, observations_, entry_, 700'000);
    EXPECT_TRUE(verdict.has_value());
    return verdict.value_or(v1::Verdict());
  }

  ClusterState state_;
  Observations observations_;
  JobEntry entry_;
};

TEST_F(StalledPeerTest, TheRankThatTheGangWaitedForIsBlamed) {
  const v1::Verdict verdict = Judge();
  EXPECT_EQ(verdict.cause(), v1::VERDICT_CAUSE_STALLED);
  EXPECT_EQ(verdict.rank(), 3);
  EXPECT_EQ(verdict.node_id(), "n3");
  EXPECT_THAT(verdict.ranks(), ElementsAre(3)) << "one rank: its node gets the evidence";
  EXPECT_EQ(verdict.exit_code(), 0) << "rank 3 has not exited";
  EXPECT_TRUE(verdict.restartable());
  EXPECT_THAT(verdict.summary(), AllOf(HasSubstr("the gang stalled: no step for "),
                                       HasSubstr(" after step 47; rank 3 has not reached "),
                                       HasSubstr("all-reduce 1380"),
                                       HasSubstr("(rank 3 on n3); then rank 0 on n0 "
                                                 "exited with code 69")));
}

TEST_F(StalledPeerTest, AStalledRankThatExitedLaterForTheSameReasonIsBlamedToo) {
  ExitWith(3, ExitCode::kPeerLost);
  EXPECT_EQ(Judge().cause(), v1::VERDICT_CAUSE_STALLED);
  EXPECT_EQ(Judge().rank(), 3);
}

TEST_F(StalledPeerTest, AFailureOfItsOwnIsTheCause) {
  ExitWith(3, ExitCode::kInternal);
  EXPECT_EQ(Judge().cause(), v1::VERDICT_CAUSE_RANK_EXITED);
  EXPECT_EQ(Judge().rank(), 3);
  EXPECT_EQ(Judge().exit_code(), static_cast<int>(ExitCode::kInternal));
}

TEST_F(StalledPeerTest, AStallThatEndedLongBeforeIsNoCause) {
  Observed().stall->until_ms = 600'000;
  EXPECT_EQ(Judge().cause(), v1::VERDICT_CAUSE_RANK_EXITED);
  Observed().stall->until_ms = 608'000;
  EXPECT_EQ(Judge().cause(), v1::VERDICT_CAUSE_STALLED) << "ended by the exits themselves";
}

TEST_F(StalledPeerTest, WithoutAStallTheFirstExitIsJudged) {
  Observed().stall.reset();
  EXPECT_EQ(Judge().cause(), v1::VERDICT_CAUSE_RANK_EXITED);
  EXPECT_EQ(Judge().rank(), 0);
  EXPECT_THAT(Judge().ranks(), ElementsAre(3));
}

TEST_F(StalledPeerTest, WithoutFlightRecordsTheStallIsTold) {
  for (auto& [place, rank] : Observed().ranks) rank.newest.clear_flights();
  const v1::Verdict verdict = Judge();
  EXPECT_EQ(verdict.rank(), 0);
  EXPECT_THAT(verdict.ranks(), IsEmpty());
  EXPECT_THAT(verdict.summary(), HasSubstr("; before that, the gang made no step for "));
}

TEST_F(StalledPeerTest, ARankThatExitedWithZeroDidNotHang) {
  ExitWith(3, ExitCode::kOk);
  Observed().total_steps = 100;
  EXPECT_EQ(Judge().cause(), v1::VERDICT_CAUSE_RANK_EXITED);
  EXPECT_THAT(
      Judge().summary(),
      HasSubstr("; before that, rank 3 exited with 0 at step 47; probably the data of rank 3 "
                "ended early (uneven data)"));
  EXPECT_THAT(Judge().ranks(), ElementsAre(3));
}

TEST_F(StalledPeerTest, RanksThatLeftAtTheEndAreNotBlamed) {
  for (const int rank : {1, 2, 3}) ExitWith(rank, ExitCode::kOk);
  Observed().stall.reset();
  Observed().total_steps = 47;
  for (auto& [place, rank] : Observed().ranks) rank.newest.clear_flights();
  EXPECT_THAT(Judge().summary(), HasSubstr("; before that, ranks 1-3 exited with 0 at step 47"));
  EXPECT_THAT(Judge().ranks(), IsEmpty());
}

}  // namespace
}  // namespace trainyard::controller

#include <algorithm>
#include <vector>

#include "controller/core/verdict/failure_policy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/contract/exit_code.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Four ranks, each of which exited after losing a peer. Rank 1 exited first, and rank 0 last.
class JudgedExitTest : public ::testing::Test {
 protected:
  JudgedExitTest() {
    state_.nodes["a"].node.set_name("a");
    entry_.job.set_id(1);
    v1::Attempt& attempt = *entry_.job.add_attempts();
    attempt.set_number(1);
    attempt.set_state(v1::ATTEMPT_STATE_RUNNING);
    for (const int rank : {0, 1, 2, 3}) {
      v1::RankPlacement& placed = *attempt.add_ranks();
      placed.set_rank(rank);
      placed.set_node_id("a");
      v1::RankExited& exited = entry_.exited_ranks[rank];
      exited.set_rank(rank);
      exited.set_exit_code(static_cast<int>(ExitCode::kPeerLost));
      exited.set_time_ms(rank == 0 ? 200 : 100 + rank);
    }
    entry_.first_failure_ms = 300;
  }

  // Returns the verdict if these ranks were waiting in a collective operation of the whole gang.
  v1::Verdict VerdictWith(const std::vector<int>& waiting) {
    Observations observations;
    AttemptObservation& observed = observations.attempts[{1, 1}];
    for (const int rank : {0, 1, 2, 3}) {
      observed.ranks[rank].running = false;
      if (std::ranges::count(waiting, rank) == 0) continue;
      v1::FlightRecord& flight = *observed.ranks[rank].newest.add_flights();
      flight.set_group("dp0");
      flight.set_ranks("0-3");
      flight.set_sequence(7);
      flight.set_operation("all-reduce");
      flight.set_entered_ms(1);
    }
    const auto verdict = JudgeExits(state_, observations, entry_, 301);
    EXPECT_TRUE(verdict.has_value());
    return verdict.value_or(v1::Verdict());
  }

  ClusterState state_;
  JobEntry entry_;
};

TEST_F(JudgedExitTest, WithoutAWaitTheFirstExitIsJudged) {
  const v1::Verdict verdict = VerdictWith({});
  EXPECT_EQ(verdict.rank(), 1);
  EXPECT_THAT(verdict.ranks(), IsEmpty());
}

TEST_F(JudgedExitTest, TheExitOfTheOnlyRankThatTheOthersWaitedForIsJudged) {
  const v1::Verdict verdict = VerdictWith({1, 2, 3});
  EXPECT_EQ(verdict.rank(), 0);
  EXPECT_THAT(verdict.ranks(), ElementsAre(0));
}

TEST_F(JudgedExitTest, IfTheOthersWaitedForTwoRanksTheFirstExitIsJudged) {
  const v1::Verdict verdict = VerdictWith({0, 1});
  EXPECT_EQ(verdict.rank(), 1);
  EXPECT_THAT(verdict.ranks(), ElementsAre(2, 3));
}

}  // namespace
}  // namespace trainyard::controller

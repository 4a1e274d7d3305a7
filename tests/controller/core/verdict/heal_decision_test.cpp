#include <functional>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/core/verdict/heal_policy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/contract/exit_code.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Places 0, 1 and 2 are on nodes "a", "b" and "c". Members 3 and 4 are standbys on nodes "d" and
// "e". All ranks have started, and the gang has completed step 10.
class HealDecisionTest : public ::testing::Test {
 protected:
  static constexpr int kPlaces = 3;
  static constexpr Timestamp kNow = 1'000'000;

  HealDecisionTest() {
    Entry().job.set_id(1);
    Entry().job.set_state(v1::JOB_STATE_RUNNING);
    v1::Attempt& attempt = *Entry().job.add_attempts();
    attempt.set_number(1);
    attempt.set_state(v1::ATTEMPT_STATE_RUNNING);
    for (const char* id : {"a", "b", "c", "d", "e"}) {
      const int member = attempt.ranks_size();
      v1::RankPlacement& rank = *attempt.add_ranks();
      rank.set_rank(member);
      rank.set_node_id(id);
      rank.set_standby(member >= kPlaces);
      Entry().started_ranks.insert(member);
      v1::Node& node = state_.nodes[id].node;
      node.set_id(id);
      node.set_name(id);
      node.set_state(v1::NODE_STATE_READY);
      observations_.nodes[id].attached = true;
      observations_.nodes[id].reports[{1, 1}] = {};
    }
    for (int place = 0; place < kPlaces; ++place) Observed().ranks[place].step = 10;
  }

  JobEntry& Entry() { return state_.jobs[1]; }
  v1::Attempt& Attempt() { return *Entry().job.mutable_attempts(0); }
  AttemptObservation& Observed() { return observations_.attempts[{1, 1}]; }

  static v1::Verdict LossOf(const std::string& node_id) {
    v1::Verdict verdict;
    verdict.set_cause(v1::VERDICT_CAUSE_NODE_LOST);
    verdict.set_node_id(node_id);
    verdict.set_restartable(true);
    verdict.set_summary(absl::StrCat("node ", node_id, " was lost"));
    return verdict;
  }

  HealDecision DecideOn(const v1::Verdict& verdict, Timestamp now = kNow) {
    return DecideHeal(state_, observations_, Entry(), verdict, now);
  }

  // Returns the heal decided after this verdict. "1:3 master a" means that member 3 takes place 1
  // and that place 0 is on node a.
  std::string HealAfter(const v1::Verdict& verdict) {
    const HealDecision heal = DecideOn(verdict);
    std::string text;
    for (const v1::Seat& seat : heal.seats) {
      absl::StrAppend(&text, seat.place(), ":", seat.member(), " ");
    }
    return absl::StrCat(text, "master ", heal.master_node_id);
  }

  // Lets member 3 take over place 1. Then every place completes step 12, and no later step.
  void Heal(Timestamp began_ms) {
    v1::Heal& heal = *Attempt().add_heals();
    heal.set_generation(2);
    heal.set_began_ms(began_ms);
    heal.set_step(10);
    *heal.mutable_verdict() = LossOf("b");
    heal.add_seats()->set_place(1);
    heal.mutable_seats(0)->set_member(3);
    Attempt().mutable_ranks(1)->set_replaced(true);
    Attempt().mutable_ranks(3)->set_place(1);
    for (int place = 0; place < kPlaces; ++place) {
      RankObservation& rank = Observed().ranks[place];
      rank.phase = "train";
      rank.newest.set_generation(2);
      rank.newest.set_step(12);
      rank.first_step_of_generation = 11;
    }
  }

  std::optional<v1::Verdict> VerdictAt(Timestamp now) {
    return VerdictOnHeal(observations_, options_, Entry(), now);
  }

  ClusterState state_;
  Observations observations_;
  CoreOptions options_;
};

TEST_F(HealDecisionTest, OnlySuddenEndsOfRanksAndNodesAreHealed) {
  const auto seats_after = [&](v1::VerdictCause cause) {
    v1::Verdict verdict = LossOf("b");
    verdict.set_cause(cause);
    return DecideOn(verdict).seats.size();
  };
  for (const v1::VerdictCause cause :
       {v1::VERDICT_CAUSE_RANK_EXITED, v1::VERDICT_CAUSE_RANK_SIGNALED,
        v1::VERDICT_CAUSE_OUT_OF_MEMORY, v1::VERDICT_CAUSE_NODE_LOST}) {
    EXPECT_EQ(seats_after(cause), 1u) << v1::VerdictCause_Name(cause);
  }
  for (const v1::VerdictCause cause :
       {v1::VERDICT_CAUSE_SPAWN_FAILED, v1::VERDICT_CAUSE_CHECKPOINT_DAMAGED,
        v1::VERDICT_CAUSE_NODE_FAULT, v1::VERDICT_CAUSE_LOSS_SPIKE, v1::VERDICT_CAUSE_STALLED}) {
    EXPECT_EQ(seats_after(cause), 0u) << v1::VerdictCause_Name(cause);
  }
  v1::Verdict last = LossOf("b");
  last.set_restartable(false);
  EXPECT_THAT(DecideOn(last).seats, IsEmpty());
}

TEST_F(HealDecisionTest, AFailedNodeIsReplacedAndPlaceZeroIsTheRendezvous) {
  EXPECT_EQ(HealAfter(LossOf("a")), "0:3 master d");
  EXPECT_EQ(HealAfter(LossOf("b")), "1:3 master a");
  EXPECT_EQ(HealAfter(LossOf("c")), "2:3 master a");
  EXPECT_EQ(DecideOn(LossOf("c")).step, 10);
}

TEST_F(HealDecisionTest, OnlyStandbysOfTheChosenSpareNodeTakePlaces) {
  Entry().exited_ranks[3].set_rank(3);
  EXPECT_EQ(HealAfter(LossOf("b")), "1:4 master a");
}

TEST_F(HealDecisionTest, ASpareNodeMustBeReadyAndHaveTheAttempt) {
  const auto spares_after = [&](const std::function<void(ClusterState&, Observations&)>& change) {
    ClusterState state = state_;
    Observations observations = observations_;
    change(state, observations);
    return WholeSpares(state, observations, state.jobs.at(1));
  };
  EXPECT_THAT(spares_after([](ClusterState&, Observations&) {}), ElementsAre("d", "e"));
  EXPECT_THAT(spares_after([](ClusterState& state, Observations&) {
                state.nodes["d"].node.set_state(v1::NODE_STATE_SUSPECT);
              }),
              ElementsAre("e"));
  EXPECT_THAT(spares_after([](ClusterState& state, Observations&) {
                state.nodes["d"].node.mutable_health()->mutable_quarantine();
              }),
              ElementsAre("e"));
  EXPECT_THAT(spares_after([](ClusterState&, Observations& observations) {
                observations.nodes["d"].attached = false;
              }),
              ElementsAre("e"));
  EXPECT_THAT(spares_after([](ClusterState&, Observations& observations) {
                observations.nodes["d"].reports.clear();
              }),
              ElementsAre("e"));
  EXPECT_THAT(spares_after([](ClusterState& state, Observations&) {
                state.jobs[1].cleared_nodes.insert("d");
              }),
              ElementsAre("e"));
  EXPECT_THAT(spares_after(
                  [](ClusterState& state, Observations&) { state.jobs[1].started_ranks.erase(3); }),
              ElementsAre("e"));
}

TEST_F(HealDecisionTest, AGangOfWhichARankHasFinishedIsNotHealed) {
  Entry().exited_ranks[0].set_exit_code(0);
  const HealDecision heal = DecideOn(LossOf("b"));
  EXPECT_THAT(heal.seats, IsEmpty());
  EXPECT_FALSE(heal.awaits_reports);
}

TEST_F(HealDecisionTest, WithoutReportsTheDecisionWaitsForFiveSeconds) {
  observations_.attempts.clear();
  observations_.since_ms = kNow - kHealReportsWaitMs;
  EXPECT_TRUE(DecideOn(LossOf("b"), kNow - 1).awaits_reports);
  const HealDecision heal = DecideOn(LossOf("b"));
  EXPECT_FALSE(heal.awaits_reports);
  EXPECT_THAT(heal.seats, IsEmpty()) << "no step is known";
}

TEST_F(HealDecisionTest, AHealIsCompletedByTheFirstStepOfEachPlace) {
  Heal(kNow - 3500);
  for (int place = 0; place < kPlaces; ++place) {
    v1::RankRecord& newest = Observed().ranks[place].newest;
    newest.set_step(0);
    EXPECT_FALSE(FindHealed(observations_, Entry(), kNow).has_value()) << place;
    newest.set_step(12);
    newest.set_generation(1);
    EXPECT_FALSE(FindHealed(observations_, Entry(), kNow).has_value()) << place;
    newest.set_step(1);
    newest.set_generation(2);
    EXPECT_TRUE(FindHealed(observations_, Entry(), kNow).has_value()) << place;
  }
  const std::optional<v1::AttemptHealed> healed = FindHealed(observations_, Entry(), kNow);
  ASSERT_TRUE(healed.has_value());
  EXPECT_EQ(healed->job_id(), 1);
  EXPECT_EQ(healed->attempt(), 1);
  EXPECT_EQ(healed->generation(), 2);
  EXPECT_EQ(healed->step(), 1);
  EXPECT_EQ(healed->lost_steps(), 0);
  EXPECT_EQ(healed->heal_ms(), 3500);
}

TEST_F(HealDecisionTest, AHealLastsNoLessThanNoTime) {
  Heal(kNow);
  EXPECT_EQ(FindHealed(observations_, Entry(), kNow)->heal_ms(), 0);
  EXPECT_EQ(FindHealed(observations_, Entry(), kNow - 5)->heal_ms(), 0);
}

TEST_F(HealDecisionTest, WithoutReportsTheLimitIsThatOfTheOptions) {
  observations_.attempts.clear();
  for (const int64_t limit_ms : {0, 30'000}) {
    options_.heal_within_ms = limit_ms;
    EXPECT_EQ(HealLimitMs(observations_, options_, Entry()), limit_ms);
  }
}

// A rank counts as training while its newest step is less than 5 s old.
TEST_F(HealDecisionTest, AHealIsAbandonedAtItsLimitUnlessARankOfItTrains) {
  Heal(kNow - options_.heal_within_ms);
  EXPECT_FALSE(VerdictAt(kNow - 1).has_value());
  ASSERT_TRUE(VerdictAt(kNow).has_value());
  EXPECT_EQ(VerdictAt(kNow)->summary(),
            "node b was lost; after the heal, the gang did not complete a step within 30 s");
  RankObservation& rank = Observed().ranks[0];
  rank.still_since_ms = kNow - 5000;
  EXPECT_TRUE(VerdictAt(kNow).has_value());
  rank.still_since_ms = kNow - 4999;
  EXPECT_FALSE(VerdictAt(kNow).has_value());
  rank.newest.set_generation(1);
  EXPECT_TRUE(VerdictAt(kNow).has_value()) << "a step of the generation before";
}

TEST_F(HealDecisionTest, AHealThatBeganInTheFutureCountsFromTheBeginOfTime) {
  Heal(kNow);
  EXPECT_FALSE(VerdictAt(options_.heal_within_ms - 1).has_value());
  EXPECT_TRUE(VerdictAt(options_.heal_within_ms).has_value());
}

TEST_F(HealDecisionTest, OnlyALostPeerOfAHealingGangIsAConsequence) {
  Heal(kNow);
  v1::Verdict verdict;
  verdict.set_cause(v1::VERDICT_CAUSE_RANK_EXITED);
  verdict.set_summary("rank 0 exited");
  verdict.set_exit_code(1);
  EXPECT_EQ(VerdictWithoutHeal(Attempt(), verdict).summary(), "rank 0 exited");
  verdict.set_exit_code(static_cast<int>(ExitCode::kPeerLost));
  const v1::Verdict first = VerdictWithoutHeal(Attempt(), verdict);
  EXPECT_EQ(first.summary(),
            "node b was lost; the gang could not continue in place: rank 0 exited");
  EXPECT_EQ(first.cause(), v1::VERDICT_CAUSE_NODE_LOST);
  EXPECT_EQ(first.node_id(), "b");
  Attempt().mutable_heals(0)->set_healed_ms(kNow);
  EXPECT_EQ(VerdictWithoutHeal(Attempt(), verdict).summary(), "rank 0 exited");
}

TEST_F(HealDecisionTest, WhyNamesTheHealOfARunningJob) {
  Heal(kNow);
  const std::optional<v1::PendingReason> why = WhyHealing(state_, Entry());
  ASSERT_TRUE(why.has_value());
  EXPECT_EQ(why->code(), v1::PENDING_CODE_HEALING);
  EXPECT_EQ(why->message(), "healing: rank 1 is replaced by the spare node d");
  EXPECT_EQ(why->advice(),
            "no action is needed; if the gang does not complete a step in time, it restarts from "
            "its newest checkpoint");
  Entry().job.set_state(v1::JOB_STATE_RECOVERING);
  EXPECT_FALSE(WhyHealing(state_, Entry()).has_value());
}

}  // namespace
}  // namespace trainyard::controller

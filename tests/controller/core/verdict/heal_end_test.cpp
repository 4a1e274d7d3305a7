// Tests how a heal ends: every place completes a step, or the time limit expires.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/core/observations/observe.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/verdict/heal_policy.h"
#include "proto/contract/exit_code.h"
#include "tests/controller/core/verdict/heal_fixture.h"

namespace trainyard::controller {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using HealEndTest = HealPolicyTest;

TEST_F(HealEndTest, AHealEndsWithAStepOfEveryPlace) {
  Start(1);
  Train(10);
  Kill(2);
  cluster_.Settle();
  Report(10, /*adopted=*/false, "heal");
  EXPECT_EQ(Find(cluster_.Pass(3000), v1::Event::kAttemptHealed), nullptr);
  const auto why = WhyHealing(cluster_.state, Entry());
  ASSERT_TRUE(why.has_value());
  EXPECT_EQ(why->message(), "healing: ranks 2,3 are replaced by the spare node c");
  Report(10);
  const auto events = cluster_.Pass(500);
  const v1::Event* healed = Find(events, v1::Event::kAttemptHealed);
  ASSERT_NE(healed, nullptr);
  EXPECT_EQ(healed->attempt_healed().step(), 10);
  EXPECT_EQ(healed->attempt_healed().lost_steps(), 1);
  EXPECT_EQ(healed->attempt_healed().heal_ms(), 3500);
  EXPECT_FALSE(IsHealing(Attempt()));
  EXPECT_EQ(cluster_.Job(job_).restarts(), 0);
}

TEST_F(HealEndTest, AGangThatEvaluatesAfterItsFirstStepHasHealed) {
  Start(1);
  Train(10);
  Kill(2);
  cluster_.Settle();
  Report(11, /*adopted=*/true, "heal");
  EXPECT_EQ(Find(cluster_.Pass(500), v1::Event::kAttemptHealed), nullptr);
  Report(11, /*adopted=*/true, "eval");
  const auto events = cluster_.Pass(500);
  const v1::Event* healed = Find(events, v1::Event::kAttemptHealed);
  ASSERT_NE(healed, nullptr);
  EXPECT_EQ(healed->attempt_healed().lost_steps(), 0) << "step 10 was made by all";
}

TEST_F(HealEndTest, AControllerThatWasAwayGivesAHealItsTimeAnew) {
  Start(1);
  Train(10);
  Kill(2);
  cluster_.Settle();
  cluster_.now += 60'000;
  cluster_.observations = {};
  cluster_.observations.since_ms = cluster_.now;
  EXPECT_EQ(Find(cluster_.Settle(), v1::Event::kAttemptFailed), nullptr) << "nobody has reported";
  Report(11);
  EXPECT_NE(Find(cluster_.Pass(500), v1::Event::kAttemptHealed), nullptr);
}

TEST_F(HealEndTest, AControllerThatStalledGivesAHealItsTimeAnew) {
  Start(1);
  Train(10);
  Kill(2);
  cluster_.Settle();
  cluster_.now += 60'000;
  ShiftHeartbeats(60'000, cluster_.now, cluster_.observations);
  EXPECT_EQ(Find(cluster_.Settle(), v1::Event::kAttemptFailed), nullptr);
}

// Only node c sends no reports; the gang still completes steps.
TEST_F(HealEndTest, AGangThatTrainsOnIsNotGivenUpForAWorkerThatIsAway) {
  Start(1);
  Train(10);
  Kill(2);
  cluster_.Settle();
  cluster_.StopHeartbeats("c");
  for (int step = 11; step < 60; ++step) {
    Report(step);
    ASSERT_EQ(Find(cluster_.Pass(1000), v1::Event::kAttemptFailed), nullptr) << step;
  }
  EXPECT_TRUE(IsHealing(Attempt()));
  cluster_.Wake("c");
  Report(60);
  EXPECT_NE(Find(cluster_.Pass(1000), v1::Event::kAttemptHealed), nullptr);
}

TEST_F(HealEndTest, AGangThatHealsAndIsDoneHasSucceeded) {
  Start(1);
  Train(10);
  Kill(2);
  cluster_.Settle();
  for (const int member : {0, 1, 4, 5}) cluster_.ExitRank(job_, member, 0);
  cluster_.Pass(60'000);
  cluster_.ClearAll(job_);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_SUCCEEDED);
}

TEST_F(HealEndTest, AHealThatComesToNoStepInTimeFailsForTheFirstReason) {
  Start(1);
  Train(10);
  Kill(2);
  cluster_.Settle();
  Report(10, /*adopted=*/false, "heal");
  EXPECT_EQ(Find(cluster_.Pass(29'500), v1::Event::kAttemptFailed), nullptr);
  const auto events = cluster_.Pass(500);
  const v1::Event* failed = Find(events, v1::Event::kAttemptFailed);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->attempt_failed().verdict().rank(), 2);
  EXPECT_THAT(failed->attempt_failed().verdict().summary(), HasSubstr("did not complete a step"));
}

TEST_F(HealEndTest, ARankThatGivesUpWhileTheGangHealsIsAConsequence) {
  Start(1);
  Train(10);
  Kill(2);
  cluster_.Settle();
  cluster_.ExitRank(job_, 0, static_cast<int>(ExitCode::kPeerLost));
  const auto events = cluster_.Pass(3000);
  const v1::Event* failed = Find(events, v1::Event::kAttemptFailed);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->attempt_failed().verdict().signal(), 9);
}

TEST_F(HealEndTest, AGangWithLongStepsHasLongerToHeal) {
  Start(1);
  Report(10);
  cluster_.Step(job_, 0, 10, 20);
  cluster_.Pass(1000);
  Kill(2);
  cluster_.Settle();
  Report(10, /*adopted=*/false, "heal");
  EXPECT_EQ(Find(cluster_.Pass(119'000), v1::Event::kAttemptFailed), nullptr);
  EXPECT_NE(Find(cluster_.Pass(2000), v1::Event::kAttemptFailed), nullptr);
}

TEST_F(HealEndTest, ANodeThatHoldsUpAHealIsReplacedWithoutBlame) {
  Start(2, 3);
  for (int64_t step = 1; step <= 10; ++step) Train(step);
  cluster_.StopHeartbeats("a");
  cluster_.Pass(5000);
  Kill(2);
  cluster_.Settle();
  Report(10, true, "heal");
  // For the first 8 s, the heal itself explains why the ranks are waiting.
  EXPECT_EQ(Find(cluster_.Pass(7500), v1::Event::kAttemptHealing), nullptr);
  const auto events = cluster_.Pass(500);
  const v1::Event* healing = Find(events, v1::Event::kAttemptHealing);
  ASSERT_NE(healing, nullptr);
  EXPECT_EQ(healing->attempt_healing().verdict().node_id(), "a");
  EXPECT_EQ(Seats(), "0:8 1:9 2:6 3:7 4:4 5:5");
  EXPECT_THAT(PlacesWithoutState(Attempt()), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(Find(events, v1::Event::kNodeBlamed), nullptr);
}

TEST_F(HealEndTest, TheGangsSuccessEndsTheStandbys) {
  Start(1);
  Train(10);
  for (int rank = 0; rank < 4; ++rank) cluster_.ExitRank(job_, rank, 0);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Commands(), Contains(HasSubstr("stop c 1/1")));
  cluster_.ClearAll(job_);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(FreeSlots(cluster_.state.nodes.at("c").node, v1::DEVICE_KIND_CPU), 2);
}

}  // namespace
}  // namespace trainyard::controller

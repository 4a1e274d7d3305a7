#include "controller/core/verdict/heal_policy.h"

#include "controller/core/event_log/snapshot.h"
#include "controller/core/observations/observe.h"
#include "controller/core/observations/observe_telemetry.h"
#include "controller/core/state/attempts/gang.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/contract/exit_code.h"
#include "tests/controller/core/test_cluster.h"
#include "tests/controller/core/verdict/heal_fixture.h"

namespace trainyard::controller {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(HealPolicyTest, ASpareNodeTakesThePlacesOfANodeWhoseRankDied) {
  Start(1);
  EXPECT_EQ(cluster_.Placement(job_), "a:0 a:1 b:0 b:1 c:0 c:1");
  EXPECT_EQ(GangSize(Attempt()), 4);
  Train(10);
  const int port = Attempt().master_port();
  Kill(2);
  const auto events = cluster_.Settle();
  const v1::Event* healing = Find(events, v1::Event::kAttemptHealing);
  ASSERT_NE(healing, nullptr);
  EXPECT_EQ(healing->attempt_healing().generation(), 2);
  EXPECT_EQ(healing->attempt_healing().step(), 10);
  EXPECT_EQ(healing->attempt_healing().verdict().rank(), 2);
  EXPECT_EQ(Seats(), "0:0 1:1 2:4 3:5");
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(Attempt().number(), 1);
  EXPECT_EQ(Attempt().master_address(), "10.0.0.1");
  EXPECT_NE(Attempt().master_port(), port);
  EXPECT_GE(Attempt().master_port(), cluster_.options.first_rendezvous_port);
  // Node b is replaced, so its surviving rank is stopped, too.
  EXPECT_THAT(cluster_.Commands(), ElementsAre("heal a 1/1 2", "stop b 1/1 0", "heal c 1/1 2"));
}

TEST_F(HealPolicyTest, SparesCountForTheShapeThatHasToFit) {
  for (const char* id : {"a", "b"}) cluster_.AddNode(id, 2);
  v1::SubmitJobRequest request;
  *request.mutable_spec() = SparesSpec("job", 2, 2, 1);
  const absl::Status refused = cluster_.Try(Checked(request));
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("3 nodes"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the largest gang that fits"));
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("the requested nodes include 1 spare node (restart.spares)"));
  *request.mutable_spec() = TestSpec("job", 3, 2);
  EXPECT_THAT(std::string(cluster_.Try(Checked(request)).message()),
              AllOf(HasSubstr("3 nodes"), Not(HasSubstr("restart.spares"))));
}

TEST_F(HealPolicyTest, OrdersNameEachRanksPlaceUntilItIsReported) {
  Start(1);
  Train(10);
  Kill(3);
  cluster_.Settle();
  for (const Command& command : CommandsDue(cluster_.state, cluster_.observations, cluster_.now)) {
    if (command.node_id != "c") continue;
    const v1::HealAttempt& heal = command.message.heal_attempt();
    ASSERT_EQ(heal.orders_size(), 2);
    EXPECT_EQ(heal.orders(0).rank(), 4);
    EXPECT_EQ(heal.orders(0).place(), 2);
    EXPECT_THAT(heal.replaced(), ElementsAre(2, 3));
    EXPECT_EQ(heal.master_port(), Attempt().master_port());
  }
  Report(10);
  cluster_.Pass(500);
  EXPECT_THAT(cluster_.Commands(), Not(Contains(HasSubstr("heal"))));
}

TEST_F(HealPolicyTest, ANodeGetsNoOrderForTheRankOfAnotherOne) {
  Start(1);
  Train(10);
  Kill(3);
  cluster_.Settle();
  Report(10, /*adopted=*/false, "heal");
  v1::RankReport& of_another = *cluster_.Report("c", job_).add_ranks();
  of_another.set_rank(0);
  of_another.set_running(true);
  cluster_.Pass(500);
  for (const Command& command : CommandsDue(cluster_.state, cluster_.observations, cluster_.now)) {
    if (command.node_id != "c") continue;
    ASSERT_EQ(command.message.heal_attempt().orders_size(), 2);
    EXPECT_EQ(command.message.heal_attempt().orders(0).rank(), 4);
    EXPECT_EQ(command.message.heal_attempt().orders(1).rank(), 5);
  }
}

// The heal lists the seats in the order in which the nodes failed, but the reason must list ranks
// in ascending order.
TEST_F(HealPolicyTest, WhyNamesReplacedRanksInAscendingOrder) {
  Start(1);
  Train(10);
  Kill(2);
  cluster_.Settle();
  v1::Job& job = cluster_.state.jobs.at(job_).job;
  job.mutable_attempts(0)->mutable_heals(0)->mutable_seats()->SwapElements(0, 1);
  EXPECT_EQ(WhyHealing(cluster_.state, Entry())->message(),
            "healing: ranks 2,3 are replaced by the spare node c");
}

TEST_F(HealPolicyTest, WithoutASpareTheAttemptFails) {
  Start(1);
  Train(10);
  Kill(2);
  cluster_.Settle();
  Train(12);
  ASSERT_FALSE(IsHealing(Attempt()));
  Kill(0);
  EXPECT_NE(Find(cluster_.Settle(), v1::Event::kAttemptFailed), nullptr);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RECOVERING);
}

TEST_F(HealPolicyTest, ASecondLossWhileTheGangHealsBringsAFurtherGeneration) {
  Start(2);
  Train(10);
  Kill(2);
  cluster_.Settle();
  Kill(4);
  cluster_.Settle();
  EXPECT_EQ(GenerationOf(Attempt()), 3);
  EXPECT_EQ(Seats(), "0:0 1:1 2:6 3:7");
  EXPECT_THAT(PlacesWithoutState(Attempt()), ElementsAre(2, 3));
  Kill(0);
  EXPECT_NE(Find(cluster_.Settle(), v1::Event::kAttemptFailed), nullptr);
}

TEST_F(HealPolicyTest, AGangOfWhichNobodyHasTheStateIsNotHealed) {
  Start(2);
  Train(10);
  Kill(2);
  cluster_.Settle();
  Kill(0);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RECOVERING);
}

TEST_F(HealPolicyTest, SomeExitsAreNotHealed) {
  for (const ExitCode code :
       {ExitCode::kUsage, ExitCode::kBadData, ExitCode::kNoInput, ExitCode::kCannotWrite,
        ExitCode::kBadCheckpoint, ExitCode::kTryAgain, ExitCode::kNotFinite, ExitCode::kFenced,
        ExitCode::kTerminated, ExitCode::kBadConfig, ExitCode::kCommandNotFound}) {
    cluster_ = TestCluster();
    Start(1);
    Train(10);
    cluster_.ExitRank(job_, 2, static_cast<int>(code));
    cluster_.Pass(3000);
    EXPECT_EQ(GenerationOf(Attempt()), 1) << static_cast<int>(code);
    EXPECT_NE(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING) << static_cast<int>(code);
  }
  cluster_ = TestCluster();
  Start(1);
  Train(10);
  cluster_.ExitRank(job_, 2, 1);
  cluster_.Settle();
  EXPECT_EQ(GenerationOf(Attempt()), 2);
}

TEST_F(HealPolicyTest, TheSameErrorAtTheSameStepIsNotHealedTwice) {
  Start(2);
  Train(10);
  cluster_.ExitRank(job_, 2, 3);
  cluster_.Settle();
  Report(10);
  cluster_.Pass(1000);
  ASSERT_FALSE(IsHealing(Attempt()));
  cluster_.ExitRank(job_, 4, 3);
  EXPECT_NE(Find(cluster_.Settle(), v1::Event::kAttemptFailed), nullptr);
}

TEST_F(HealPolicyTest, BeforeItsFirstStepAGangIsNotHealed) {
  Start(1);
  Report(0, true, "load");
  cluster_.Pass(6000);
  Kill(2);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RECOVERING);
}

TEST_F(HealPolicyTest, AStandbyThatEndedTakesNoPlaceAndFailsNothing) {
  Start(1);
  Train(10);
  cluster_.ExitRank(job_, 5, 1);
  cluster_.Pass(6000);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
  EXPECT_TRUE(WholeSpares(cluster_.state, cluster_.observations, Entry()).empty());
  Kill(2);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RECOVERING);
}

TEST_F(HealPolicyTest, AControllerThatHasJustStartedWaitsForReports) {
  Start(1);
  Train(10);
  cluster_.observations = Observations();
  cluster_.observations.since_ms = cluster_.now;
  Kill(2);
  EXPECT_TRUE(cluster_.Settle().empty());
  for (const char* id : {"a", "b", "c"}) cluster_.OpenStream(id);
  Report(10);
  cluster_.Pass(500);
  EXPECT_EQ(GenerationOf(Attempt()), 2);
}

TEST_F(HealPolicyTest, ANodeThatIsLostIsReplacedAndEndedWhenItComesBack) {
  Start(1);
  for (int64_t step = 1; step <= 20; ++step) Train(step);
  cluster_.StopHeartbeats("b");
  Report(20, true, "heal");
  const auto events = cluster_.Pass(9000);
  const v1::Event* healing = Find(events, v1::Event::kAttemptHealing);
  ASSERT_NE(healing, nullptr);
  EXPECT_EQ(healing->attempt_healing().verdict().cause(), v1::VERDICT_CAUSE_NODE_LOST);
  EXPECT_NE(Find(events, v1::Event::kNodeBlamed), nullptr);
  EXPECT_NE(Find(events, v1::Event::kNodeLost), nullptr);
  Train(21);
  ASSERT_FALSE(IsHealing(Attempt()));
  cluster_.Wake("b");
  cluster_.Do(AttachWorker{cluster_.HelloOf("b")});
  cluster_.Pass(1000);
  // The processes on node b no longer count as ranks of the gang. The controller commands node b to
  // stop these processes.
  EXPECT_EQ(cluster_.observations.attempts.at({job_, 1}).ranks.size(), 4u);
  EXPECT_THAT(cluster_.Commands(), ElementsAre("stop b 1/1 0"));
  EXPECT_EQ(FreeSlots(cluster_.state.nodes.at("b").node, v1::DEVICE_KIND_CPU), 0);
  cluster_.ClearNode(job_, "b");
  EXPECT_EQ(FreeSlots(cluster_.state.nodes.at("b").node, v1::DEVICE_KIND_CPU), 2);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
  EXPECT_TRUE(cluster_.Commands().empty());
}

// A node may report that its only ranks exited and were cleared before the controller decides how
// to react.
TEST_F(HealPolicyTest, ANodeThatWasClearedBeforeTheHealIsFreeForOthers) {
  Start(1);
  Train(10);
  Kill(2);
  Kill(3);
  cluster_.ClearNode(job_, "b");
  cluster_.Settle();
  EXPECT_EQ(Seats(), "0:0 1:1 2:4 3:5");
  EXPECT_EQ(FreeSlots(cluster_.state.nodes.at("b").node, v1::DEVICE_KIND_CPU), 2);
  const int64_t other = cluster_.Submit("other", 1, 2);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Placement(other), "b:0 b:1");
}

TEST_F(HealPolicyTest, WhenTheFirstPlaceIsLostTheSpareNodeIsTheRendezvous) {
  Start(1);
  Train(10);
  Kill(1);
  cluster_.Settle();
  EXPECT_EQ(Seats(), "0:4 1:5 2:2 3:3");
  EXPECT_EQ(Attempt().master_address(), "10.0.0.3");
}

TEST_F(HealPolicyTest, MetricsAreThoseOfThePlaceAlsoWhenTheyComeLate) {
  Start(1);
  Train(10);
  Kill(0);
  cluster_.Settle();
  const auto is_kept = [&](int member) {
    v1::TelemetryBatch batch;
    batch.mutable_stream()->set_job_id(job_);
    batch.mutable_stream()->set_attempt(1);
    batch.mutable_stream()->set_rank(member);
    batch.add_records()->mutable_metrics()->set_step(11);
    ObserveTelemetry(batch, cluster_.state, cluster_.observations);
    KeepReportingRanksMetrics(cluster_.state, cluster_.observations, batch);
    return batch.records_size() == 1;
  };
  EXPECT_TRUE(is_kept(4)) << "it holds place 0";
  EXPECT_TRUE(is_kept(0)) << "it held place 0 when it wrote this";
  EXPECT_FALSE(is_kept(5));
  EXPECT_FALSE(is_kept(2));
}

TEST_F(HealPolicyTest, AfterAHealTheNextAttemptKeepsTheNodesThatTrained) {
  Start(1);
  Train(10);
  Kill(2);
  cluster_.Settle();
  cluster_.ClearNode(job_, "b");
  cluster_.Submit("other", 1, 2);
  cluster_.Settle();
  Train(12);
  Kill(0);
  cluster_.Settle();
  cluster_.ExitAll(job_, 69);
  cluster_.ClearAll(job_);
  cluster_.Pass(2000);
  // The job's spare node is in use by another job.
  // The job continues without waiting for a spare.
  EXPECT_EQ(cluster_.Placement(job_), "a:0 a:1 c:0 c:1");
  EXPECT_EQ(StandbyCount(Attempt()), 0);
}

TEST_F(HealPolicyTest, AReplayGivesTheSameState) {
  Start(2);
  Train(10);
  Kill(2);
  cluster_.Settle();
  Train(12);
  cluster_.ClearNode(job_, "b");
  const ClusterState replayed = FromSnapshot(ToSnapshot(cluster_.state, 0));
  EXPECT_EQ(Bytes(replayed), Bytes(cluster_.state));
  EXPECT_EQ(DifferentIndexes(replayed, cluster_.state), "");
}

}  // namespace
}  // namespace trainyard::controller

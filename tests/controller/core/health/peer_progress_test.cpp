// Tests how the progress of a gang's other ranks is used as evidence about a node that sends no
// heartbeats.
#include "controller/core/health/node_evidence.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/health/peer_progress_fixture.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;

TEST_F(PeerProgressTest, NodeIsLostWhenItsPeersStallToo) {
  Train(1, 20000);
  cluster_.StopHeartbeats("a");
  EXPECT_THAT(Kinds(cluster_.Pass(7500)), ElementsAre("NodeSuspected"));
  const std::vector<v1::Event> events = cluster_.Pass(1000);
  ASSERT_THAT(Kinds(events), ElementsAre("AttemptFailed", "NodeBlamed", "NodeLost"));
  EXPECT_EQ(events[2].node_lost().reason(),
            "no heartbeat for 8 s, and job 1 (job) has lost its ranks on the node");
  const v1::Verdict& verdict = events[0].attempt_failed().verdict();
  EXPECT_EQ(verdict.summary(),
            "node a was lost: no heartbeat for 8 s, and the ranks of job 1 (job) on other nodes "
            "have stalled");
  EXPECT_EQ(verdict.cause(), v1::VERDICT_CAUSE_NODE_LOST);
  EXPECT_EQ(verdict.node_id(), "a");
  EXPECT_EQ(verdict.rank(), -1);
}

TEST_F(PeerProgressTest, PeersThatTheControllerDoesNotReadShowNoProgress) {
  Train(1, 20000);
  cluster_.StopHeartbeats("a");
  for (int i = 0; i < 60; ++i) {
    ObserveUnread("b", cluster_.now, cluster_.state, cluster_.observations);
    cluster_.Pass(500);
  }
  EXPECT_EQ(AboutNode("a"), PeerProgress::kUnknown);
  EXPECT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_SUSPECT);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
}

// Only progress seen by the rank's worker counts. Delayed telemetry and printed output do not
// count.
TEST_F(PeerProgressTest, LateTelemetryAndChatterAreNoProgress) {
  Train(1, 20000);
  cluster_.StopHeartbeats("a");
  for (int i = 0; i < 16; ++i) {
    cluster_.Step(job_, 1, ++step_, 0.5);
    Report(1).set_last_activity_ms(i);
    cluster_.Pass(500);
  }
  EXPECT_EQ(AboutNode("a"), PeerProgress::kStalled);
  EXPECT_EQ(cluster_.Attempt(job_).verdict().cause(), v1::VERDICT_CAUSE_NODE_LOST);
}

// Without telemetry, only output shows a rank's progress.
TEST_F(PeerProgressTest, OutputIsTheProgressOfARankThatReportsNoSteps) {
  cluster_.Step(job_, 0, 1, 0.5);
  Report(1);
  for (int i = 1; i <= 120; ++i) {
    if (i == 40) cluster_.StopHeartbeats("a");
    Report(1).set_last_activity_ms(i);
    cluster_.Pass(500);
  }
  EXPECT_EQ(AboutNode("a"), PeerProgress::kMoving);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
}

TEST_F(PeerProgressTest, NodeIsNeverLostWhileAPeerMoves) {
  Train(1, 10000);
  cluster_.StopHeartbeats("a");
  Train(1, 900000);
  EXPECT_EQ(AboutNode("a"), PeerProgress::kMoving);
  EXPECT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_SUSPECT);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
}

TEST_F(PeerProgressTest, LongStepsStretchThePatience) {
  for (int i = 0; i < 30; ++i) {
    Step(1, 10);
    cluster_.Pass(10000);
  }
  cluster_.StopHeartbeats("a");
  cluster_.Pass(15000);
  EXPECT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_SUSPECT);
  cluster_.Pass(10000);
  EXPECT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_LOST);
}

TEST_F(PeerProgressTest, ASingleLongStepDoesNotStretchThePatience) {
  Train(1, 30'000);
  Train(1, 500, 60);
  Train(1, 30'000);
  cluster_.StopHeartbeats("a");
  cluster_.Pass(9000);
  EXPECT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_LOST);
}

// Rank 1, on node b, made steady progress for 8 s, the longest permitted pause, and then stalled 8
// s ago.
class PeerProgressLimitTest : public PeerProgressTest {
 protected:
  void SetUp() override {
    PeerProgressTest::SetUp();
    cluster_.now += 100'000;
    Attempt().step_times = {0.5};
    Rank().running = true;
    Rank().phase = "train";
    Rank().still_since_ms = cluster_.now - 8000;
    Rank().moving_until_ms = Rank().still_since_ms;
    Rank().moving_since_ms = Rank().still_since_ms - 8000;
    cluster_.observations.nodes["a"].last_heartbeat_ms = Rank().still_since_ms + 8000;
    cluster_.observations.nodes["b"].last_heartbeat_ms = cluster_.now;
    cluster_.observations.nodes["b"].last_report_ms = cluster_.now;
  }

  AttemptObservation& Attempt() { return cluster_.observations.attempts[{job_, 1}]; }
  RankObservation& Rank() { return Attempt().ranks[1]; }
};

TEST_F(PeerProgressLimitTest, APauseOfTheLongestLengthIsAStall) {
  EXPECT_EQ(AboutNode("a"), PeerProgress::kStalled);
  cluster_.now -= 1;
  EXPECT_EQ(AboutNode("a"), PeerProgress::kMoving);
}

TEST_F(PeerProgressLimitTest, AShorterSteadyProgressProvesNothing) {
  Rank().moving_since_ms += 1;
  EXPECT_EQ(AboutNode("a"), PeerProgress::kUnknown);
}

TEST_F(PeerProgressLimitTest, AStallLongBeforeTheLastHeartbeatProvesNothing) {
  cluster_.observations.nodes["a"].last_heartbeat_ms += 1;
  EXPECT_EQ(AboutNode("a"), PeerProgress::kUnknown);
}

TEST_F(PeerProgressLimitTest, OnlyAPeerWithARecentHeartbeatCounts) {
  cluster_.observations.nodes["b"].last_heartbeat_ms = cluster_.now - 2999;
  EXPECT_EQ(AboutNode("a"), PeerProgress::kStalled);
  cluster_.observations.nodes["b"].last_heartbeat_ms = cluster_.now - 3000;
  EXPECT_EQ(AboutNode("a"), PeerProgress::kUnknown);
}

// After an interruption of a peer's stream, the first message may be older than the progress of the
// peer's ranks or contain nothing about these ranks.
TEST_F(PeerProgressLimitTest, OnlyAPeerWhoseReportsHaveSettledProvesAStall) {
  NodeObservation& peer = cluster_.observations.nodes["b"];
  peer.reports_since_ms = cluster_.now - 3000;
  EXPECT_EQ(AboutNode("a"), PeerProgress::kStalled);
  peer.reports_since_ms = cluster_.now - 2999;
  EXPECT_EQ(AboutNode("a"), PeerProgress::kUnknown);
  peer.reports_since_ms = 0;
  peer.last_report_ms = cluster_.now - 3000;
  EXPECT_EQ(AboutNode("a"), PeerProgress::kUnknown);
  // A rank that shows progress needs no report.
  Rank().still_since_ms = cluster_.now;
  EXPECT_EQ(AboutNode("a"), PeerProgress::kMoving);
}

TEST_F(PeerProgressLimitTest, NothingIsLeftToTrainAfterTheLastStep) {
  Attempt().total_steps = 1;
  EXPECT_EQ(AboutNode("a"), PeerProgress::kStalled);
  Rank().step = 1;
  EXPECT_EQ(AboutNode("a"), PeerProgress::kUnknown);
}

TEST_F(PeerProgressTest, RankThatNeverWritesShowsNoProgress) {
  // Only rank 0, on the node without heartbeats, has reported.
  Train(0, 20000);
  cluster_.StopHeartbeats("a");
  cluster_.Pass(60000);
  EXPECT_EQ(AboutNode("a"), PeerProgress::kUnknown);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
  cluster_.Pass(cluster_.options.lease_ms);
  EXPECT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_LOST);
}

// A lost machine must be detected as early with checkpoints every few seconds as without
// checkpoints.
TEST_F(PeerProgressTest, PeersThatSaveOftenShowProgress) {
  Enter(1, "train");
  for (int i = 0; i < 5; ++i) {
    Train(1, 4000);
    Enter(1, "checkpoint");
    Enter(1, "train");
  }
  Train(1, 1000);
  cluster_.StopHeartbeats("a");
  cluster_.Pass(7000);
  EXPECT_EQ(AboutNode("a"), PeerProgress::kMoving);
  EXPECT_THAT(Kinds(cluster_.Pass(2000)), ElementsAre("AttemptFailed", "NodeBlamed", "NodeLost"));
}

// For longer than the lease, the gang trains while one node sends no heartbeats. A save after that
// must not be mistaken for the loss of the node.
TEST_F(PeerProgressTest, TheLeaseBeginsWithTheNewestStepOfTheGang) {
  Train(1, 5000);
  cluster_.StopHeartbeats("a");
  Train(1, cluster_.options.lease_ms + 20'000);
  Enter(1, "checkpoint");
  cluster_.Pass(5000);
  EXPECT_EQ(AboutNode("a"), PeerProgress::kUnknown);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_SUSPECT);
}

TEST_F(PeerProgressTest, QuietPhasesProveNothing) {
  Train(1, 20000);
  Enter(1, "checkpoint");
  cluster_.StopHeartbeats("a");
  cluster_.Pass(60000);
  EXPECT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_SUSPECT);
}

TEST_F(PeerProgressTest, AGangThatHasTrainedAllStepsProvesNothing) {
  Train(1, 20000);
  cluster_.StopHeartbeats("a");
  v1::TelemetryBatch batch;
  batch.mutable_stream()->set_job_id(job_);
  batch.mutable_stream()->set_attempt(1);
  batch.mutable_stream()->set_rank(1);
  batch.add_records()->mutable_metrics()->set_step(++step_);
  batch.mutable_records(0)->mutable_metrics()->set_total_steps(step_);
  ObserveTelemetry(batch, cluster_.state, cluster_.observations);
  cluster_.Pass(60000);
  EXPECT_EQ(AboutNode("a"), PeerProgress::kUnknown);
  EXPECT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_SUSPECT);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
}

TEST_F(PeerProgressTest, ARankThatItsWorkerSawEndShowsNoProgress) {
  Train(1, 20000);
  cluster_.StopHeartbeats("a");
  // The report arrives before the fact that the rank exited.
  Report(1).set_running(false);
  cluster_.Pass(60000);
  EXPECT_EQ(AboutNode("a"), PeerProgress::kUnknown);
  EXPECT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_SUSPECT);
}

TEST_F(PeerProgressTest, AWholeGangInTheDarkIsLeftAloneUntilTheLeaseEnds) {
  Train(1, 20000);
  cluster_.StopHeartbeats("a");
  cluster_.StopHeartbeats("b");
  cluster_.Pass(cluster_.options.lease_ms - 1000);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
  cluster_.Pass(1000);
  EXPECT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_LOST);
  EXPECT_EQ(cluster_.NodeStateOf("b"), v1::NODE_STATE_LOST);
  // No node is free for another attempt.
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RECOVERING);
}

// Repeated restarts of the controller must not make a dead node's jobs wait forever.
TEST_F(PeerProgressTest, TheLeaseGoesOnOverRestartsOfTheController) {
  Train(1, 20000);
  cluster_.StopHeartbeats("a");
  cluster_.StopHeartbeats("b");
  for (int64_t away_ms = 0; away_ms < cluster_.options.lease_ms; away_ms += 60'000) {
    EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
    RestartController(cluster_);
    cluster_.Pass(60'000);
  }
  EXPECT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_LOST);
}

// The nodes may have become reachable while the controller was down, and need time to reconnect
// after its start.
TEST_F(PeerProgressTest, NodesThatWereSuspectBeforeHaveTimeToComeBackAfterAStart) {
  Train(1, 20000);
  cluster_.StopHeartbeats("a");
  cluster_.StopHeartbeats("b");
  cluster_.Pass(10'000);
  cluster_.now += 2 * cluster_.options.lease_ms;
  RestartController(cluster_);
  cluster_.Pass(cluster_.options.return_within_ms - 500);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
  cluster_.Wake("a");
  cluster_.Wake("b");
  cluster_.Pass(60'000);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
}

TEST_F(PeerProgressTest, StoppingAttemptDoesNotProtectItsNode) {
  cluster_.StopHeartbeats("a");
  cluster_.Stop(job_, true);
  cluster_.ClearNode(job_, "b");
  cluster_.Pass(9000);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_STOPPED);
}

TEST_F(PeerProgressTest, FirstReportsAfterAControllerRestartAreNoMovement) {
  Train(1, 20000);
  cluster_.observations = Observations{};
  cluster_.observations.since_ms = cluster_.now;
  Step(0, 0.5);
  cluster_.Pass(500);
  cluster_.StopHeartbeats("a");
  cluster_.Pass(60000);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
}

}  // namespace
}  // namespace trainyard::controller

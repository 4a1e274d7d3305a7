#include "controller/core/health/start_evidence.h"

#include <optional>

#include "controller/core/observations/observe.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kSecond = 1000;

// A gang runs on nodes a and b. Node c is a spare.
class StartEvidenceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* id : {"a", "b", "c"}) cluster_.AddNode(id, 1);
    job_ = cluster_.Submit("job", 2, 1);
    cluster_.Settle();
    ASSERT_EQ(cluster_.Placement(job_), "a:0 b:0");
  }

  // From now on, each node reports this phase for its rank.
  void ReportPhase(const std::string& phase) {
    Report("a", 0, phase);
    Report("b", 1, phase);
  }

  void Report(const std::string& node_id, int number, const std::string& phase) {
    v1::AttemptReport& report = cluster_.Report(node_id, job_);
    report.clear_ranks();
    v1::RankReport& rank = *report.add_ranks();
    rank.set_rank(number);
    rank.set_running(true);
    rank.set_phase(phase);
    rank.mutable_newest()->set_init_seconds(4);
    rank.mutable_newest()->set_load_seconds(6);
  }

  // The first attempt starts within 10 s, trains and crashes. The second attempt is placed but has
  // not started.
  void RestartOnce() {
    ReportPhase("train");
    cluster_.StartAll(job_);
    cluster_.Step(job_, 0, 1, 0.5);
    cluster_.Pass(5 * kSecond);
    cluster_.ExitRank(job_, 0, 1);
    cluster_.ExitAll(job_, 69);
    cluster_.ClearAll(job_);
    cluster_.Pass(2 * kSecond);
    ASSERT_EQ(cluster_.Attempt(job_).number(), 2);
    ASSERT_EQ(LongestStartMs(cluster_.Job(job_)), 10 * kSecond);
  }

  std::string VerdictText() { return cluster_.Attempt(job_).verdict().summary(); }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(StartEvidenceTest, ANodeThatNeverTookTheOrderIsReplacedAfterTheStartLease) {
  cluster_.StopHeartbeats("a");
  Report("b", 1, "init");
  cluster_.StartRank(job_, 1);
  cluster_.Pass(cluster_.options.start_lease_ms - kSecond);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_STARTING);
  cluster_.Pass(2 * kSecond);
  EXPECT_EQ(VerdictText(),
            "node a was lost: no heartbeat for 2 min, and the node has not reported job 1 (job) "
            "since the job was placed");
  EXPECT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_LOST);
}

TEST_F(StartEvidenceTest, AJobOfOneNodeThatNeverStartedIsPlacedAgain) {
  const int64_t single = cluster_.Submit("single", 1, 1);
  cluster_.Settle();
  ASSERT_EQ(cluster_.Placement(single), "c:0");
  cluster_.AddNode("d", 1);
  cluster_.StopHeartbeats("c");
  cluster_.Pass(cluster_.options.start_lease_ms - 1);
  EXPECT_FALSE(cluster_.Job(single).attempts(0).has_verdict());
  cluster_.Pass(1);
  EXPECT_TRUE(cluster_.Job(single).attempts(0).has_verdict());
  cluster_.Pass(3 * kSecond);
  EXPECT_EQ(cluster_.Placement(single), "d:0");
}

TEST_F(StartEvidenceTest, AJobPlacedOnANodeThatHasJustLeftIsSoonPlacedAgain) {
  const int64_t single = cluster_.Submit("single", 1, 1);
  cluster_.Settle();
  ASSERT_EQ(cluster_.Placement(single), "c:0");
  cluster_.AddNode("d", 1);
  cluster_.Leave("c");
  cluster_.Pass(cluster_.options.lost_after_ms + kSecond);
  EXPECT_EQ(cluster_.Placement(single), "d:0");
  EXPECT_EQ(cluster_.Job(single).restarts(), 0) << "nothing of it ran";
}

TEST_F(StartEvidenceTest, AStartThatWasNeverSentIsSoonPlacedAgain) {
  const int64_t single = cluster_.Submit("single", 1, 1);
  cluster_.Settle();
  ASSERT_EQ(cluster_.Placement(single), "c:0");
  cluster_.AddNode("d", 1);
  cluster_.StopHeartbeats("c");
  ObserveDetached("c", cluster_.observations);
  cluster_.Pass(cluster_.options.lost_after_ms + kSecond);
  EXPECT_EQ(cluster_.Placement(single), "d:0");
}

// An earlier run of the controller may already have sent the start command.
TEST_F(StartEvidenceTest, AStartIsNotMissedBeforeTheNodeIsWelcomed) {
  const int64_t single = cluster_.Submit("single", 1, 1);
  cluster_.Settle();
  cluster_.AddNode("d", 1);
  cluster_.observations.nodes["c"].welcomed = false;
  cluster_.StopHeartbeats("c");
  ObserveDetached("c", cluster_.observations);
  cluster_.Pass(cluster_.options.lost_after_ms + kSecond);
  EXPECT_EQ(cluster_.Placement(single), "c:0");
}

TEST_F(StartEvidenceTest, AStartThatWasSentMayHaveArrived) {
  const int64_t single = cluster_.Submit("single", 1, 1);
  cluster_.Settle();
  ObserveStartSent("c", {single, 1}, cluster_.observations);
  cluster_.AddNode("d", 1);
  cluster_.StopHeartbeats("c");
  ObserveDetached("c", cluster_.observations);
  cluster_.Pass(cluster_.options.start_lease_ms - kSecond);
  EXPECT_EQ(cluster_.Placement(single), "c:0");
}

// The node's last report shows that the node still has the attempt. A worker that is being upgraded
// leaves its ranks running.
TEST_F(StartEvidenceTest, AJobThatTheNodeHadWhenItLeftKeepsItsLease) {
  const int64_t single = cluster_.Submit("single", 1, 1);
  cluster_.Settle();
  cluster_.ReportRunning("c", single, 1);
  cluster_.Leave("c");
  cluster_.Pass(cluster_.options.lease_ms - 2 * kSecond);
  EXPECT_EQ(cluster_.Attempt(single).number(), 1);
}

TEST_F(StartEvidenceTest, ANodeWithoutAStreamGetsNoRanks) {
  cluster_.Leave("c");
  const int64_t single = cluster_.Submit("single", 1, 1);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(single), v1::JOB_STATE_QUEUED);
  cluster_.Wake("c");
  cluster_.OpenStream("c");
  cluster_.Settle();
  EXPECT_EQ(cluster_.Placement(single), "c:0");
}

// A node that disconnects before its Welcome never receives a
// command to start ranks. If ranks were placed on such a node, the
// job would have to be placed again although nothing had failed.
TEST_F(StartEvidenceTest, ANodeThatAwaitsItsWelcomeGetsNoRanks) {
  cluster_.Leave("c");
  const int64_t single = cluster_.Submit("single", 1, 1);
  cluster_.Wake("c");
  ObserveAttached(cluster_.HelloOf("c"), cluster_.now, cluster_.state, cluster_.observations);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(single), v1::JOB_STATE_QUEUED);
  ObserveWelcomed("c", cluster_.observations);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Placement(single), "c:0");
}

// While the node is disconnected, the job may continue to train for any length of time. The attempt
// therefore ends only when the lease ends.
TEST_F(StartEvidenceTest, AJobOfOneNodeThatWasReportedKeepsItsLease) {
  const int64_t single = cluster_.Submit("single", 1, 1);
  cluster_.Settle();
  cluster_.ReportRunning("c", single, 1);
  cluster_.Pass(kSecond);
  cluster_.StopHeartbeats("c");
  cluster_.Pass(cluster_.options.lease_ms - 2 * kSecond);
  EXPECT_EQ(cluster_.Attempt(single).number(), 1);
  EXPECT_EQ(cluster_.Attempt(single).state(), v1::ATTEMPT_STATE_STARTING);
}

// The start facts from node a may be lost. A rank can train only after all ranks have started, so a
// training peer proves that the rank on node a has started, too.
TEST_F(StartEvidenceTest, APeerThatTrainsShowsThatAllRanksHaveStarted) {
  cluster_.StopHeartbeats("a");
  Report("b", 1, "train");
  cluster_.StartRank(job_, 1);
  cluster_.Pass(cluster_.options.lease_ms - kSecond);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_STARTING);
}

TEST_F(StartEvidenceTest, APeerThatMakesProgressInItsStartIsWaitedFor) {
  cluster_.StopHeartbeats("a");
  for (int i = 0; i < 300; ++i) {
    Report("b", 1, i % 2 == 0 ? "init" : "load");
    cluster_.Pass(kSecond);
  }
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_STARTING);
}

TEST_F(StartEvidenceTest, AFirstStartHasTheStartLease) {
  ReportPhase("load");
  cluster_.StartAll(job_);
  cluster_.Pass(5 * kSecond);
  cluster_.StopHeartbeats("a");
  cluster_.Pass(cluster_.options.start_lease_ms - 10 * kSecond);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
  cluster_.Pass(10 * kSecond);
  EXPECT_THAT(VerdictText(),
              HasSubstr("the ranks of job 1 (job) on other nodes have been starting for 2 min"));
}

// If a job once started within 10 s, its next start may take at most three times as long.
TEST_F(StartEvidenceTest, EarlierStartsTellHowLongAStartMayTake) {
  RestartOnce();
  ReportPhase("load");
  cluster_.StartAll(job_);
  cluster_.Pass(5 * kSecond);
  cluster_.StopHeartbeats("a");
  cluster_.Pass(24 * kSecond);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
  cluster_.Pass(2 * kSecond);
  EXPECT_THAT(VerdictText(), HasSubstr("have been starting for 30 s"));
  cluster_.ClearNode(job_, "b");
  cluster_.Pass(4 * kSecond);
  EXPECT_EQ(cluster_.Placement(job_), "c:0 b:0");
}

// The start of an incomplete gang says nothing about start times, because ranks wait for missing
// ranks.
TEST_F(StartEvidenceTest, EarlierStartsTellNothingBeforeAllRanksHaveStarted) {
  RestartOnce();
  ReportPhase("init");
  cluster_.StartRank(job_, 1);
  cluster_.Pass(5 * kSecond);
  cluster_.StopHeartbeats("a");
  cluster_.Pass(100 * kSecond);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_STARTING);
}

TEST_F(StartEvidenceTest, APeerWithoutAPhaseIsNoEvidence) {
  ReportPhase("");
  cluster_.StartAll(job_);
  cluster_.Pass(5 * kSecond);
  cluster_.StopHeartbeats("a");
  cluster_.Pass(cluster_.options.lease_ms - kSecond);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
}

TEST_F(StartEvidenceTest, APeerThatHasEndedIsNoEvidence) {
  ReportPhase("load");
  cluster_.StartAll(job_);
  cluster_.Pass(5 * kSecond);
  cluster_.StopHeartbeats("a");
  cluster_.Report("b", job_).mutable_ranks(0)->set_running(false);
  cluster_.Pass(cluster_.options.start_lease_ms + 10 * kSecond);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
}

TEST_F(StartEvidenceTest, PeersThatWaitedLongBeforeTheLastHeartbeatProveNothing) {
  ReportPhase("load");
  cluster_.StartAll(job_);
  cluster_.Pass(2 * cluster_.options.start_lease_ms);
  cluster_.StopHeartbeats("a");
  cluster_.Pass(cluster_.options.start_lease_ms);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
}

TEST(LongestStartTest, OnlyEndedAttemptsThatTrainedCount) {
  v1::Job job;
  EXPECT_EQ(LongestStartMs(job), std::nullopt);
  v1::Attempt& attempt = *job.add_attempts();
  attempt.set_state(v1::ATTEMPT_STATE_ENDED);
  attempt.mutable_time_use()->set_init_ms(3000);
  attempt.mutable_time_use()->set_load_ms(4000);
  EXPECT_EQ(LongestStartMs(job), std::nullopt);
  attempt.set_last_step(1);
  EXPECT_EQ(LongestStartMs(job), 7000);
  *job.add_attempts() = attempt;
  job.mutable_attempts(1)->mutable_time_use()->set_load_ms(1000);
  EXPECT_EQ(LongestStartMs(job), 7000);
  attempt.set_state(v1::ATTEMPT_STATE_RUNNING);
  EXPECT_EQ(LongestStartMs(job), 4000);
}

TEST_F(StartEvidenceTest, ANodeMayHaveReportedAnOlderAttemptToAnEarlierController) {
  ++cluster_.now;
  cluster_.observations = Observations{.since_ms = cluster_.now};
  cluster_.StopHeartbeats("a");
  cluster_.Pass(cluster_.options.start_lease_ms + 5 * kSecond);
  EXPECT_FALSE(cluster_.Attempt(job_).has_verdict());
}

TEST_F(StartEvidenceTest, AStartedRankDidNotGoWithoutItsOrder) {
  const int64_t single = cluster_.Submit("single", 1, 1);
  cluster_.Settle();
  ASSERT_EQ(cluster_.Placement(single), "c:0");
  cluster_.StartRank(single, 0);
  cluster_.StopHeartbeats("c");
  ObserveDetached("c", cluster_.observations);
  cluster_.Pass(cluster_.options.lost_after_ms + kSecond);
  EXPECT_FALSE(cluster_.Attempt(single).has_verdict());
}

TEST_F(StartEvidenceTest, ANodeWithoutAMessageHasNoSettledReports) {
  EXPECT_FALSE(HasSettledReports({}, cluster_.options, "a", cluster_.now));
}

TEST_F(StartEvidenceTest, WithoutARunningPeerNothingShowsALoss) {
  cluster_.StartRank(job_, 0);
  cluster_.observations.since_ms = 1;
  cluster_.observations.nodes.at("a").last_heartbeat_ms = 1;
  EXPECT_EQ(
      EvidenceOfLostStart(cluster_.observations, cluster_.options, cluster_.state.jobs.at(job_),
                          "a", 2 * cluster_.options.start_lease_ms),
      "");
}

// Node a has stopped sending heartbeats; b has been loading since kWaitMs.
class StartLimitTest : public StartEvidenceTest {
 protected:
  static constexpr Timestamp kWaitMs = 10'000'000;

  void SetUp() override {
    StartEvidenceTest::SetUp();
    ReportPhase("load");
    cluster_.StartAll(job_);
    cluster_.Pass(5 * kSecond);
    cluster_.observations.attempts.at({job_, 1}).ranks.at(1).quiet_since_ms = kWaitMs;
  }
  // Returns the evidence at `now`, given that node a's last heartbeat arrived at `heartbeat_ms`.
  std::string Evidence(Timestamp heartbeat_ms, Timestamp now) {
    cluster_.observations.nodes.at("a").last_heartbeat_ms = heartbeat_ms;
    cluster_.observations.nodes.at("b").last_report_ms = now;
    return EvidenceOfLostStart(cluster_.observations, cluster_.options,
                               cluster_.state.jobs.at(job_), "a", now);
  }
};

TEST_F(StartLimitTest, PeersThatWaitForTheWholeLimitAreEvidence) {
  const int64_t limit_ms = cluster_.options.start_lease_ms;
  EXPECT_EQ(Evidence(kWaitMs, kWaitMs + limit_ms - 1), "");
  EXPECT_EQ(Evidence(kWaitMs, kWaitMs + limit_ms),
            ", and the ranks of job 1 (job) on other nodes have been starting for 2 min");
}

TEST_F(StartLimitTest, PeersThatStoppedBeforeTheLimitOfTheLastHeartbeatAreNot) {
  const int64_t limit_ms = cluster_.options.start_lease_ms;
  EXPECT_NE(Evidence(kWaitMs + limit_ms, kWaitMs + limit_ms), "");
  EXPECT_EQ(Evidence(kWaitMs + limit_ms + 1, kWaitMs + limit_ms + 1), "");
}

TEST_F(StartEvidenceTest, TheStartLeaseCountsFromThePlacement) {
  const int64_t lease_ms = cluster_.options.start_lease_ms;
  const Timestamp placed_ms = cluster_.Attempt(job_).placed_time_ms();
  cluster_.observations.since_ms = 1;
  cluster_.observations.nodes.at("a").last_heartbeat_ms = placed_ms - lease_ms;
  const auto evidence = [&](Timestamp now) {
    return EvidenceOfLostStart(cluster_.observations, cluster_.options,
                               cluster_.state.jobs.at(job_), "a", now);
  };
  EXPECT_EQ(evidence(placed_ms), "");
  EXPECT_EQ(evidence(placed_ms + lease_ms - 1), "");
  EXPECT_NE(evidence(placed_ms + lease_ms), "");
}

TEST(LongestStartTest, AStartWithoutATimeDoesNotCount) {
  v1::Job job;
  v1::Attempt& attempt = *job.add_attempts();
  attempt.set_state(v1::ATTEMPT_STATE_ENDED);
  attempt.set_last_step(5);
  EXPECT_EQ(LongestStartMs(job), std::nullopt);
  attempt.mutable_time_use()->set_init_ms(1);
  EXPECT_EQ(LongestStartMs(job), 1);
}

TEST(LongestStartTest, AFreshStartIsNoMeasureForOneFromACheckpoint) {
  v1::Job job;
  v1::Attempt& fresh = *job.add_attempts();
  fresh.set_state(v1::ATTEMPT_STATE_ENDED);
  fresh.set_last_step(5);
  fresh.mutable_time_use()->set_init_ms(3000);
  EXPECT_EQ(LongestStartMs(job), 3000);
  job.add_attempts()->set_resume_step(1);
  EXPECT_EQ(LongestStartMs(job), std::nullopt);
}

}  // namespace
}  // namespace trainyard::controller

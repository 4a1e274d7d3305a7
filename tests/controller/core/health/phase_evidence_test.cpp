#include "controller/core/health/phase_evidence.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;

// A gang on nodes a, b and c that has trained and saved one checkpoint. The save took `save_ms`.
class PhaseEvidenceTest : public ::testing::Test {
 protected:
  static constexpr int64_t kSecond = 1000;
  static constexpr int64_t kLimitMs = 120 * kSecond;

  void Run(int64_t save_ms) {
    for (const char* id : {"a", "b", "c"}) cluster_.AddNode(id, 1);
    v1::JobSpec spec = TestSpec("job", 3, 1);
    spec.mutable_watchdog()->set_action(v1::WATCHDOG_ACTION_OFF);
    job_ = cluster_.Submit(spec);
    cluster_.RunJob(job_);
    cluster_.observations.longest_phase_ms[job_]["checkpoint"] = save_ms;
    for (int64_t step = 1; step <= 20; ++step) {
      cluster_.Step(job_, 0, step, 0.5);
      for (const int rank : {0, 1, 2}) Report(rank, "train", step);
      cluster_.Pass(500);
    }
  }

  void Report(int rank, const std::string& phase, int64_t step) {
    v1::AttemptReport& report =
        cluster_.Report(std::string(1, static_cast<char>('a' + rank)), job_);
    if (report.ranks().empty()) report.add_ranks()->set_running(true);
    report.mutable_ranks(0)->set_rank(rank);
    report.mutable_ranks(0)->set_phase(phase);
    report.mutable_ranks(0)->set_step(step);
  }

  void Save() {
    for (const int rank : {0, 1, 2}) Report(rank, "checkpoint", 20);
    cluster_.Pass(2 * kSecond);
  }

  bool IsRunning() const { return cluster_.StateOf(job_) == v1::JOB_STATE_RUNNING; }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(PhaseEvidenceTest, ANodeThatDiesInASaveIsFoundByTheLengthOfEarlierSaves) {
  Run(10 * kSecond);
  Save();
  cluster_.StopHeartbeats("a");
  cluster_.Pass(kLimitMs - 3 * kSecond);
  EXPECT_TRUE(IsRunning());
  cluster_.Pass(2 * kSecond);
  EXPECT_EQ(cluster_.Attempt(job_).verdict().cause(), v1::VERDICT_CAUSE_NODE_LOST);
  EXPECT_THAT(cluster_.Attempt(job_).verdict().summary(),
              HasSubstr("the ranks of job 1 (job) on other nodes have waited in the phase "
                        "checkpoint for 2 min"));
}

TEST_F(PhaseEvidenceTest, LongSavesStretchTheLimit) {
  Run(60 * kSecond);
  Save();
  cluster_.StopHeartbeats("a");
  cluster_.Pass(180 * kSecond - 3 * kSecond);
  EXPECT_TRUE(IsRunning());
  cluster_.Pass(2 * kSecond);
  EXPECT_FALSE(IsRunning());
}

TEST_F(PhaseEvidenceTest, PeersThatTrainAndWaitForTheOthersHaveStalledToo) {
  Run(10 * kSecond);
  Save();
  Report(1, "train", 20);
  cluster_.StopHeartbeats("a");
  // A rank that has just begun to train has no steady progress yet, so its stall alone proves
  // nothing.
  cluster_.observations.attempts.begin()->second.ranks[1].moving_since_ms = cluster_.now;
  cluster_.observations.attempts.begin()->second.ranks[1].steady_before_ms = 0;
  cluster_.Pass(kLimitMs - 5 * kSecond);
  EXPECT_TRUE(IsRunning());
  cluster_.Pass(5 * kSecond);
  EXPECT_FALSE(IsRunning());
}

TEST_F(PhaseEvidenceTest, OnePeerThatMakesProgressIsAVeto) {
  Run(10 * kSecond);
  Save();
  cluster_.StopHeartbeats("a");
  cluster_.Pass(kLimitMs / 2);
  Report(1, "checkpoint", 21);
  cluster_.Pass(kLimitMs - kSecond);
  EXPECT_TRUE(IsRunning());
}

TEST_F(PhaseEvidenceTest, APeerThatIsNotSeenMayTrainOn) {
  Run(10 * kSecond);
  Save();
  cluster_.StopHeartbeats("a");
  cluster_.StopHeartbeats("b");
  cluster_.Pass(2 * kLimitMs);
  EXPECT_TRUE(IsRunning());
}

TEST_F(PhaseEvidenceTest, AFirstSaveTakesAsLongAsItTakes) {
  Run(10 * kSecond);
  cluster_.observations.longest_phase_ms.clear();
  Save();
  cluster_.StopHeartbeats("a");
  cluster_.Pass(cluster_.options.lease_ms - 5 * kSecond);
  EXPECT_TRUE(IsRunning());
}

TEST_F(PhaseEvidenceTest, PeersThatWaitedLongBeforeTheLastHeartbeatWaitForSomethingElse) {
  Run(10 * kSecond);
  Save();
  cluster_.Pass(2 * kLimitMs);
  cluster_.StopHeartbeats("a");
  cluster_.Pass(kLimitMs);
  EXPECT_TRUE(IsRunning());
}

TEST_F(PhaseEvidenceTest, AGangThatEndsIsLeftAlone) {
  Run(10 * kSecond);
  Save();
  cluster_.StopHeartbeats("a");
  cluster_.ExitRank(job_, 1, 0);
  cluster_.Pass(2 * kLimitMs);
  EXPECT_TRUE(IsRunning());
}

// The other nodes of node a's gang have been saving since kWaitMs.
class PhaseLimitTest : public PhaseEvidenceTest {
 protected:
  static constexpr Timestamp kWaitMs = 10'000'000;

  void SetUp() override {
    Run(10 * kSecond);
    Save();
    for (const int rank : {1, 2}) {
      RankObservation& observed = cluster_.observations.attempts.begin()->second.ranks.at(rank);
      observed.still_since_ms = kWaitMs;
      observed.moving_until_ms = kWaitMs;
    }
  }
  // Returns the evidence at `now`, given that node a's last heartbeat arrived at `heartbeat_ms`.
  std::string Evidence(Timestamp heartbeat_ms, Timestamp now) {
    cluster_.observations.nodes.at("a").last_heartbeat_ms = heartbeat_ms;
    for (const char* id : {"b", "c"}) cluster_.observations.nodes.at(id).last_report_ms = now;
    return EvidenceOfLostPhase(cluster_.observations, cluster_.options,
                               cluster_.state.jobs.at(job_), "a", now);
  }
};

TEST_F(PhaseLimitTest, PeersThatSaveForTheWholeLimitAreEvidence) {
  EXPECT_EQ(Evidence(kWaitMs, kWaitMs + kLimitMs - 1), "");
  EXPECT_EQ(Evidence(kWaitMs, kWaitMs + kLimitMs),
            ", and the ranks of job 1 (job) on other nodes have waited in the phase checkpoint "
            "for 2 min");
}

TEST_F(PhaseLimitTest, PeersThatStoppedBeforeTheLimitOfTheLastHeartbeatAreNot) {
  EXPECT_NE(Evidence(kWaitMs + kLimitMs, kWaitMs + 2 * kLimitMs), "");
  EXPECT_EQ(Evidence(kWaitMs + kLimitMs + 1, kWaitMs + 2 * kLimitMs), "");
}

}  // namespace
}  // namespace trainyard::controller

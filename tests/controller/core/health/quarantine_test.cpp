// Tests which failures are blamed on a node, and what follows for the node.
#include "controller/core/health/quarantine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/apply.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/health/node_health.h"
#include "controller/core/state/nodes/evidence_list.h"
#include "proto/contract/exit_code.h"
#include "tests/controller/core/health/quarantine_fixture.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

TEST_F(QuarantineTest, TwoJobsThatSeeADeviceErrorQuarantineTheNode) {
  const int64_t first = RunOn("a", "first");
  Fail(first, kEccOutput);
  ASSERT_EQ(Node("a").evidence_size(), 1);
  EXPECT_EQ(Node("a").evidence(0).fault(), v1::NODE_FAULT_DEVICE);
  EXPECT_EQ(Node("a").evidence(0).xid(), 48);
  EXPECT_FALSE(IsQuarantined("a")) << "one job's output proves nothing";
  cluster_.Stop(first, true);
  cluster_.ExitAll(first, 137);
  cluster_.ClearAll(first);
  cluster_.Settle();
  for (const char* id : {"b", "c"}) RunOn(id, absl::StrCat("other-", id));
  const int64_t second = RunOn("a", "second");
  Fail(second, kEccOutput);
  EXPECT_TRUE(IsQuarantined("a"));
  EXPECT_THAT(HealthText(Node("a"), cluster_.now),
              testing::AllOf(HasSubstr("quarantined: 2 failures in"), HasSubstr("Xid 48"),
                             HasSubstr("trainyard node release a")));
  EXPECT_EQ(cluster_.StateOf(second), v1::JOB_STATE_RECOVERING) << "it gets nothing";
}

TEST_F(QuarantineTest, ARankThatFindsItsDeviceWrongGoesOnElsewhere) {
  const int64_t job = RunOn("a", "job");
  Fail(job, "the device cuda:0 computes wrong\n", static_cast<int>(ExitCode::kDeviceFault));
  ASSERT_EQ(Node("a").evidence_size(), 1);
  EXPECT_EQ(Node("a").evidence(0).fault(), v1::NODE_FAULT_DEVICE);
  EXPECT_THAT(Node("a").evidence(0).reason(), HasSubstr("its device computes wrong results"));
  EXPECT_EQ(cluster_.Attempt(job).number(), 2);
  EXPECT_EQ(cluster_.Placement(job), "b:0");
}

TEST_F(QuarantineTest, AFailureOfAnAttemptNoNewerThanTheEvidenceIsCountedAlready) {
  const int64_t id = RunOn("a", "job");
  Fail(id, "", static_cast<int>(ExitCode::kDeviceFault));
  const v1::Job& job = cluster_.Job(id);
  const v1::Attempt& failed = job.attempts(0);
  ASSERT_EQ(Node("a").evidence_size(), 1);
  ASSERT_EQ(Node("a").evidence(0).time_ms(), failed.placed_time_ms());
  EXPECT_TRUE(
      BlameFor(failed.verdict(), job, failed, cluster_.state, cluster_.options, cluster_.now)
          .empty());
}

TEST_F(QuarantineTest, AWrongDeviceWithoutAnotherNodeIsTriedAgain) {
  for (const char* id : {"b", "c"}) cluster_.StopHeartbeats(id);
  cluster_.Pass(60'000);
  const int64_t job = RunOn("a", "job");
  Fail(job, "", static_cast<int>(ExitCode::kDeviceFault));
  EXPECT_EQ(cluster_.Attempt(job).number(), 2);
  EXPECT_EQ(cluster_.Placement(job), "a:0");
}

TEST_F(QuarantineTest, OneJobsOwnWordsQuarantineNothing) {
  const int64_t job = RunOn("a", "job");
  for (int i = 0; i < 2; ++i) {
    Fail(job, kEccOutput);
    if (LiveAttempt(cluster_.state.jobs.at(job)) == nullptr) break;
    cluster_.StartAll(job);
  }
  EXPECT_FALSE(IsQuarantined("a"));
}

TEST_F(QuarantineTest, ABugOfTheProgramBlamesNoNode) {
  const int64_t job = RunOn("a", "job");
  Fail(job,
       "CUDA error: an illegal memory access was encountered\n"
       "NVRM: Xid (PCI:0000:3b:00): 31, pid=12, MMU Fault\n");
  EXPECT_EQ(Node("a").evidence_size(), 0);
}

TEST_F(QuarantineTest, AFatalErrorInTheKernelsLogIsEnough) {
  RunOn("a", "job");
  ReportDeviceError("a", 31, cluster_.now);
  EXPECT_EQ(Node("a").evidence_size(), 0) << "an error of the program";
  ReportDeviceError("a", 79, cluster_.now);
  EXPECT_TRUE(IsQuarantined("a"));
  EXPECT_TRUE(Node("a").evidence(0).fatal());
  cluster_.Pass(5000);
  ReportDeviceError("a", 79, cluster_.now - 5000);
  EXPECT_EQ(Node("a").evidence_size(), 1) << "workers repeat what they have found";
}

TEST_F(QuarantineTest, AFatalErrorBehindAnotherOneIsNoRepetition) {
  ReportDeviceError("a", 94, cluster_.now);
  EXPECT_FALSE(IsQuarantined("a"));
  ReportDeviceError("a", 95, cluster_.now + 1000);
  EXPECT_TRUE(IsQuarantined("a"));
  EXPECT_EQ(Node("a").evidence_size(), 2);
}

// The failed start and the device error each produce an event that overwrites the node's health.
// The later event must therefore include the changes of the earlier event.
TEST_F(QuarantineTest, AFailedStartInTheSameTickTakesNoQuarantineBack) {
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.Settle();
  v1::RankExited exited;
  exited.set_rank(0);
  exited.set_exit_code(1);
  exited.set_spawn_error("No space left on device");
  exited.set_start_fault(v1::START_FAULT_NODE);
  cluster_.Exit(job, exited);
  ReportDeviceError("a", 79, cluster_.now);
  EXPECT_TRUE(IsQuarantined("a"));
  EXPECT_EQ(Node("a").health().failed_starts(), 1);
}

TEST_F(QuarantineTest, SlowRanksPushOutNoFailure) {
  ClusterState& state = cluster_.state;
  v1::NodeEvidence evidence;
  evidence.set_fault(v1::NODE_FAULT_LOST);
  AddEvidence(evidence, state.nodes.at("a").node);
  evidence.set_fault(v1::NODE_FAULT_SLOW);
  for (int i = 0; i < 2 * kEvidenceKept; ++i) AddEvidence(evidence, state.nodes.at("a").node);
  ASSERT_EQ(Node("a").evidence_size(), kEvidenceKept);
  EXPECT_EQ(Node("a").evidence(0).fault(), v1::NODE_FAULT_LOST);
}

TEST_F(QuarantineTest, TwoErrorsThatADeviceSurvivesAreEnough) {
  ReportDeviceError("a", 94, cluster_.now);
  EXPECT_FALSE(IsQuarantined("a"));
  cluster_.Pass(120'000);
  ReportDeviceError("a", 94, cluster_.now);
  EXPECT_TRUE(IsQuarantined("a"));
}

TEST_F(QuarantineTest, EvidenceOlderThanADayDoesNotCount) {
  ReportDeviceError("a", 94, cluster_.now);
  cluster_.now += cluster_.options.evidence_window_ms;
  ReportDeviceError("a", 94, cluster_.now);
  EXPECT_EQ(Node("a").evidence_size(), 2);
  EXPECT_FALSE(IsQuarantined("a"));
}

class LostNodeTest : public QuarantineTest {
 protected:
  // Runs a job on all nodes. Stops the heartbeats of node a until the job fails because of node a,
  // and then reconnects the worker.
  void Lose(const std::string& name, bool restarts = false) {
    const int64_t job = cluster_.Submit(name, 3, 1);
    cluster_.RunJob(job);
    for (int64_t step = 1; step <= 20; ++step) {
      for (int rank = 0; rank < 3; ++rank) {
        cluster_.Step(job, rank, step, 0.5);
        v1::AttemptReport& report =
            cluster_.ReportRunning(cluster_.Attempt(job).ranks(rank).node_id(), job, 1);
        report.mutable_ranks(0)->set_rank(rank);
        report.mutable_ranks(0)->set_step(step);
      }
      cluster_.Pass(500);
    }
    cluster_.StopHeartbeats("a");
    cluster_.Pass(40'000);
    ASSERT_EQ(cluster_.Job(job).attempts(0).verdict().cause(), v1::VERDICT_CAUSE_NODE_LOST)
        << cluster_.Job(job).DebugString();
    was_quarantined_ = IsQuarantined("a");
    cluster_.Wake("a");
    v1::Hello hello = cluster_.HelloOf("a");
    if (restarts) hello.set_incarnation("restarted");
    // The request is decided first, as in the daemon. The node may be suspected once more before
    // its heartbeat is observed.
    cluster_.Do(AttachWorker{hello});
    cluster_.Settle();
    ObserveAttached(hello, cluster_.now, cluster_.state, cluster_.observations);
    ObserveWelcomed("a", cluster_.observations);
    cluster_.Pass(1000);
    if (LiveAttempt(cluster_.state.jobs.at(job)) != nullptr) cluster_.Stop(job, true);
    cluster_.ExitAll(job, 137);
    cluster_.ClearAll(job);
    cluster_.Pass(1000);
    if (cluster_.StateOf(job) == v1::JOB_STATE_RECOVERING) cluster_.Stop(job, true);
    cluster_.Settle();
  }

  // True if the node was quarantined just before the worker came back.
  bool was_quarantined_ = false;
};

TEST_F(LostNodeTest, TwoLossesQuarantineTheNode) {
  Lose("first");
  EXPECT_FALSE(was_quarantined_);
  EXPECT_EQ(Node("a").evidence_size(), 1);
  Lose("second");
  EXPECT_TRUE(was_quarantined_);
  EXPECT_EQ(Node("a").evidence_size(), 2);
}

TEST_F(LostNodeTest, AWorkerThatComesBackProvesAFailureOfTheLink) {
  Lose("first");
  ASSERT_EQ(Node("a").evidence_size(), 1);
  EXPECT_EQ(Node("a").evidence(0).fault(), v1::NODE_FAULT_LINK);
  EXPECT_THAT(Node("a").evidence(0).reason(), HasSubstr("the node's network link had failed"));
  EXPECT_FALSE(IsQuarantined("a"));
}

TEST_F(LostNodeTest, ARestartedWorkerProvesNothingAboutTheLink) {
  Lose("first", /*restarts=*/true);
  ASSERT_EQ(Node("a").evidence_size(), 1);
  EXPECT_EQ(Node("a").evidence(0).fault(), v1::NODE_FAULT_LOST);
}

// The usual quarantine lasts for an hour.
TEST_F(LostNodeTest, AQuarantineForALinkEndsWhenTheLinkHasHeld) {
  Lose("first");
  Lose("second");
  ASSERT_TRUE(IsQuarantined("a"));
  EXPECT_THAT(Node("a").health().reason(), HasSubstr("the node's network link had failed"));
  ReportChecks("a", true);
  cluster_.Pass(200'000);
  ReportChecks("a", true);
  EXPECT_TRUE(IsQuarantined("a")) << "the link must work for five minutes";
  ReportChecks("a", false);
  cluster_.Pass(110'000);
  EXPECT_TRUE(IsQuarantined("a")) << "a check has failed";
  ReportChecks("a", true);
  EXPECT_FALSE(IsQuarantined("a"));
}

TEST_F(LostNodeTest, ADeviceErrorBesideTheLinkKeepsTheQuarantine) {
  Lose("first");
  ReportDeviceError("a", 94, cluster_.now);
  ASSERT_TRUE(IsQuarantined("a"));
  cluster_.Pass(310'000);
  ReportChecks("a", true);
  EXPECT_TRUE(IsQuarantined("a"));
}

// If this limit prevents a quarantine, the node keeps its evidence and the delay after its failed
// start.
TEST_F(QuarantineTest, AtMostATenthOfTheNodesIsQuarantinedUnlessADeviceIsBroken) {
  const auto survive_two = [&](const std::string& id) {
    ReportDeviceError(id, 94, cluster_.now);
    cluster_.Pass(120'000);
    ReportDeviceError(id, 94, cluster_.now);
  };
  survive_two("a");
  survive_two("b");
  EXPECT_TRUE(IsQuarantined("a"));
  EXPECT_FALSE(IsQuarantined("b")) << "one of three nodes is out already";
  EXPECT_EQ(Node("b").evidence_size(), 2);
  ReportDeviceError("c", 79, cluster_.now);
  EXPECT_TRUE(IsQuarantined("c"));
}

TEST_F(QuarantineTest, AmongEqualNodesTheHighestScoreIsTakenFirst) {
  ReportDeviceError("a", 94, cluster_.now);
  EXPECT_EQ(ScoreOf(Node("a"), cluster_.now), 75);
  RunOn("b", "first");
  RunOn("c", "second");
  RunOn("a", "third");
}

TEST_F(QuarantineTest, OfBlamedNodesTheHighestScoreIsTakenFirst) {
  ReportDeviceError("b", 94, cluster_.now);
  cluster_.Pass(3 * 3'600'000, 60'000);
  ReportDeviceError("a", 94, cluster_.now);
  EXPECT_GT(ScoreOf(Node("b"), cluster_.now), ScoreOf(Node("a"), cluster_.now));
  RunOn("c", "first");
  RunOn("b", "second");
  RunOn("a", "third");
}

TEST_F(QuarantineTest, EvidenceIsBoundedAndSurvivesARestart) {
  for (int i = 0; i < 2 * kEvidenceKept; ++i) {
    cluster_.now += 120'000;
    ReportDeviceError("a", 94, cluster_.now);
  }
  EXPECT_EQ(Node("a").evidence_size(), kEvidenceKept);
  EXPECT_EQ(ScoreOf(Node("a"), cluster_.now), 0);
  const ClusterState restarted = FromSnapshot(ToSnapshot(cluster_.state, 1));
  EXPECT_EQ(DifferentIndexes(restarted, cluster_.state), "");
  EXPECT_EQ(restarted.nodes.at("a").node.evidence_size(), kEvidenceKept);
  cluster_.Do(AttachWorker{[&] {
    v1::Hello hello = cluster_.HelloOf("a");
    hello.set_incarnation("another");
    return hello;
  }()});
  EXPECT_TRUE(IsQuarantined("a")) << "a new start of the worker ends nothing";
  EXPECT_EQ(Node("a").evidence_size(), kEvidenceKept);
}

// Returns the events that follow the watchdog's verdict on a gang of `nodes` ranks. The verdict
// names `ranks` as the cause.
std::vector<v1::Event> BlameForHang(TestCluster& cluster, int nodes,
                                    const std::vector<int>& ranks) {
  const int64_t job = cluster.Submit(absl::StrCat("hung-on-", nodes), nodes, 1);
  cluster.RunJob(job);
  v1::Verdict verdict;
  verdict.set_cause(v1::VERDICT_CAUSE_STALLED);
  verdict.set_rank(ranks.front());
  verdict.set_node_id(cluster.Attempt(job).ranks(ranks.front()).node_id());
  verdict.mutable_ranks()->Add(ranks.begin(), ranks.end());
  return BlameFor(verdict, cluster.Job(job), cluster.Attempt(job), cluster.state, cluster.options,
                  cluster.now);
}

TEST_F(QuarantineTest, OnlyARankThatHangsAloneBlamesItsNode) {
  EXPECT_TRUE(BlameForHang(cluster_, 1, {0}).empty()) << "a gang of one has no other to compare";
  const std::vector<v1::Event> alone = BlameForHang(cluster_, 2, {1});
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0].node_blamed().evidence().fault(), v1::NODE_FAULT_STALLED);
  EXPECT_EQ(alone[0].node_blamed().evidence().rank(), 1);
  EXPECT_EQ(alone[0].node_blamed().evidence().attempt(), 1);
  EXPECT_EQ(alone[0].time_ms(), cluster_.now);
  EXPECT_EQ(alone[0].actor(), "controller");
}

TEST_F(QuarantineTest, AQuarantineSaysSinceWhenAndKeepsAnEarlierFault) {
  v1::NodeHealth& health = *cluster_.state.nodes.at("a").node.mutable_health();
  health.set_since_ms(cluster_.now - 5000);
  health.set_reason("could not start");
  health.set_failed_starts(1);
  cluster_.state.unhealthy_nodes.insert("a");
  ReportDeviceError("a", 79, cluster_.now);
  EXPECT_EQ(Node("a").health().since_ms(), cluster_.now - 5000);
  EXPECT_EQ(Node("a").health().reason(), "could not start");
  EXPECT_EQ(Node("a").health().quarantine().since_ms(), cluster_.now);
  ReportDeviceError("b", 79, cluster_.now);
  EXPECT_EQ(Node("b").health().since_ms(), cluster_.now);
  EXPECT_EQ(Node("b").health().reason(), Node("b").health().quarantine().reason());
}

TEST_F(QuarantineTest, RanksThatHangTogetherBlameNoNode) {
  EXPECT_TRUE(BlameForHang(cluster_, 2, {0, 1}).empty());
}

TEST_F(QuarantineTest, EachOlderFailureOfTheWeekDoublesTheTime) {
  const auto length_ms = [&](int failures, int64_t age_ms) {
    TestCluster cluster;
    cluster.AddNode("a", 1);
    cluster.options.evidence_window_ms = 1;
    cluster.options.quarantine_failures = 1;
    cluster.now += 8 * 86'400'000LL;
    for (int i = 0; i < failures; ++i) {
      v1::NodeEvidence evidence;
      evidence.set_fault(v1::NODE_FAULT_LOST);
      evidence.set_time_ms(cluster.now - age_ms);
      AddEvidence(evidence, cluster.state.nodes.at("a").node);
    }
    v1::Verdict verdict;
    verdict.set_cause(v1::VERDICT_CAUSE_NODE_LOST);
    verdict.set_node_id("a");
    v1::Attempt attempt;
    attempt.set_placed_time_ms(cluster.now);
    const auto events =
        BlameFor(verdict, v1::Job(), attempt, cluster.state, cluster.options, cluster.now);
    EXPECT_EQ(events.size(), 2u);
    return events.back().node_unhealthy().health().quarantine().checks_count_from_ms() -
           cluster.now;
  };
  constexpr int64_t kHour = 3'600'000;
  constexpr int64_t kWeek = 7 * 24 * kHour;
  EXPECT_EQ(length_ms(0, 0), kHour);
  EXPECT_EQ(length_ms(1, kHour), 2 * kHour);
  EXPECT_EQ(length_ms(3, kHour), 8 * kHour);
  EXPECT_EQ(length_ms(3, kWeek - 1), 8 * kHour);
  EXPECT_EQ(length_ms(3, kWeek), kHour) << "older than a week";
  EXPECT_EQ(length_ms(10, kHour), 24 * kHour) << "a day at most";
}

TEST_F(QuarantineTest, OneNodeOfTenMayBeQuarantinedForEachTen) {
  for (int i = 3; i < 20; ++i) cluster_.AddNode(absl::StrCat("n", i), 1);
  for (const char* id : {"a", "b", "c"}) {
    ReportDeviceError(id, 94, cluster_.now);
    cluster_.Pass(120'000);
    ReportDeviceError(id, 94, cluster_.now);
  }
  EXPECT_TRUE(IsQuarantined("a"));
  EXPECT_TRUE(IsQuarantined("b"));
  EXPECT_FALSE(IsQuarantined("c"));
}

TEST_F(QuarantineTest, TheSameErrorIsOneErrorForAMinute) {
  ReportDeviceError("a", 94, cluster_.now);
  ReportDeviceError("a", 94, cluster_.now + 60'000);
  EXPECT_EQ(Node("a").evidence_size(), 1);
  ReportDeviceError("a", 94, cluster_.now + 60'001);
  EXPECT_EQ(Node("a").evidence_size(), 1) << "a time in the future counts as now";
  cluster_.now += 60'001;
  ReportDeviceError("a", 94, cluster_.now);
  EXPECT_EQ(Node("a").evidence_size(), 2);
}

// If several nodes lose contact simultaneously, the network is the likely cause, so no node is
// blamed.
TEST_F(QuarantineTest, ANodeLostBesideTwoSilentOnesIsNotBlamed) {
  const auto blame = [&] {
    v1::Verdict verdict;
    verdict.set_cause(v1::VERDICT_CAUSE_NODE_LOST);
    verdict.set_node_id("a");
    v1::Attempt attempt;
    attempt.set_placed_time_ms(cluster_.now);
    return BlameFor(verdict, v1::Job(), attempt, cluster_.state, cluster_.options, cluster_.now)
        .size();
  };
  const auto set = [&](const char* id, v1::NodeState state, Timestamp heartbeat_ms) {
    cluster_.state.nodes.at(id).node.set_state(state);
    cluster_.state.nodes.at(id).node.set_last_heartbeat_ms(heartbeat_ms);
  };
  const Timestamp lease_ms = cluster_.options.lease_ms;
  set("a", v1::NODE_STATE_SUSPECT, cluster_.now);
  set("b", v1::NODE_STATE_SUSPECT, cluster_.now);
  EXPECT_EQ(blame(), 1u) << "one other is silent";
  set("c", v1::NODE_STATE_LOST, cluster_.now - lease_ms + 1);
  EXPECT_EQ(blame(), 0u);
  set("c", v1::NODE_STATE_LOST, cluster_.now - lease_ms);
  EXPECT_EQ(blame(), 1u) << "it was lost long ago";
  set("c", v1::NODE_STATE_SUSPECT, 0);
  EXPECT_EQ(blame(), 0u);
}

TEST_F(QuarantineTest, AttemptsThatFailTogetherAreOneFailureOfTheirNode) {
  v1::Verdict verdict;
  verdict.set_cause(v1::VERDICT_CAUSE_NODE_LOST);
  verdict.set_node_id("a");
  v1::NodeEvidence evidence;
  evidence.set_fault(v1::NODE_FAULT_LOST);
  evidence.set_time_ms(cluster_.now - 1000);
  AddEvidence(evidence, cluster_.state.nodes.at("a").node);
  const auto blame = [&](Timestamp placed_ms) {
    v1::Attempt attempt;
    attempt.set_placed_time_ms(placed_ms);
    return BlameFor(verdict, v1::Job(), attempt, cluster_.state, cluster_.options, cluster_.now)
        .size();
  };
  EXPECT_EQ(blame(cluster_.now - 1001), 0u);
  EXPECT_EQ(blame(cluster_.now - 1000), 0u);
  EXPECT_GT(blame(cluster_.now - 999), 0u);
  cluster_.now -= 1001;
  EXPECT_GT(blame(cluster_.now - 1000), 0u) << "the clock was set back behind the evidence";
}

TEST_F(QuarantineTest, TheScoreFallsWithEachFailureAndComesBackByDays) {
  v1::Node node;
  v1::NodeEvidence evidence;
  evidence.set_time_ms(cluster_.now);
  AddEvidence(evidence, node);
  evidence.set_fatal(true);
  AddEvidence(evidence, node);
  EXPECT_EQ(ScoreOf(node, cluster_.now), 25);
  EXPECT_EQ(ScoreOf(node, cluster_.now + 86'400'000), 63);
  EXPECT_EQ(ScoreOf(node, cluster_.now - 5), 25) << "evidence of the future counts in full";
}

}  // namespace
}  // namespace trainyard::controller

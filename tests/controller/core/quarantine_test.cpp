// Failures that nodes are to blame for, what follows from them, and the way back.
#include "controller/core/quarantine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "controller/core/node_health.h"
#include "proto/contract/exit_code.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

constexpr char kEccOutput[] =
    "step 41\nRuntimeError: CUDA error: uncorrectable ECC error encountered\n";

class QuarantineTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* id : {"a", "b", "c"}) cluster_.AddNode(id, 1);
  }

  // The attempt of a job of one slot fails with these last lines; the next one is placed.
  void Fail(int64_t job_id, const std::string& log_tail, int exit_code = 1) {
    v1::RankExited exited;
    exited.set_rank(0);
    exited.set_exit_code(exit_code);
    exited.set_log_tail(log_tail);
    exited.set_time_ms(cluster_.now);
    cluster_.Exit(job_id, exited);
    cluster_.Settle();
    cluster_.ClearAll(job_id);
    cluster_.Pass(5000);
  }
  int64_t RunOn(const std::string& node_id, const std::string& name) {
    const int64_t job = cluster_.Submit(name, 1, 1);
    cluster_.RunJob(job);
    EXPECT_EQ(cluster_.Placement(job), node_id + ":0");
    return job;
  }
  void ReportDeviceError(const std::string& node_id, int xid, Timestamp time_ms) {
    v1::Heartbeat heartbeat;
    v1::DeviceError& error = *heartbeat.mutable_condition()->add_device_errors();
    error.set_time_ms(time_ms);
    error.set_xid(xid);
    error.set_device("0000:3b:00");
    heartbeat.set_time_ms(cluster_.now);
    ObserveHeartbeat(node_id, heartbeat, cluster_.now, cluster_.state, cluster_.observations);
    cluster_.Settle();
  }
  void ReportChecks(const std::string& node_id, bool ok) {
    v1::Heartbeat heartbeat;
    heartbeat.set_time_ms(cluster_.now);
    heartbeat.add_checks()->set_ok(true);
    heartbeat.add_checks()->set_ok(ok);
    ObserveHeartbeat(node_id, heartbeat, cluster_.now, cluster_.state, cluster_.observations);
    cluster_.Settle();
  }
  const v1::Node& Node(const std::string& id) { return cluster_.state.nodes.at(id).node; }
  bool IsQuarantined(const std::string& id) { return Node(id).health().has_quarantine(); }

  TestCluster cluster_;
};

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
  EXPECT_THAT(Node("a").evidence(0).reason(), HasSubstr("its device computes wrong"));
  EXPECT_EQ(cluster_.Attempt(job).number(), 2);
  EXPECT_EQ(cluster_.Placement(job), "b:0");
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

TEST_F(QuarantineTest, ADeviceWhoseFatalErrorIsToldIsNotReleasedByChecks) {
  ReportDeviceError("a", 79, cluster_.now);
  cluster_.now += cluster_.options.quarantine_ms;
  v1::Heartbeat heartbeat;
  heartbeat.set_time_ms(cluster_.now);
  heartbeat.add_checks()->set_ok(true);
  heartbeat.mutable_condition()->add_device_errors()->set_xid(79);
  ObserveHeartbeat("a", heartbeat, cluster_.now, cluster_.state, cluster_.observations);
  cluster_.Settle();
  EXPECT_TRUE(IsQuarantined("a"));
  ReportChecks("a", true);
  EXPECT_FALSE(IsQuarantined("a")) << "its worker has begun anew and tells of none";
}

// The health of the node is replaced by both.
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

TEST_F(QuarantineTest, ANodeThatIsLostTwiceIsQuarantined) {
  for (int i = 0; i < 2; ++i) {
    const int64_t job = cluster_.Submit(absl::StrCat("job-", i), 3, 1);
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
    EXPECT_EQ(Node("a").evidence_size(), i + 1);
    EXPECT_EQ(IsQuarantined("a"), i == 1);
    cluster_.Wake("a");
    cluster_.Do(AttachWorker{cluster_.HelloOf("a")});
    cluster_.Pass(1000);
    if (LiveAttempt(cluster_.state.jobs.at(job)) != nullptr) cluster_.Stop(job, true);
    cluster_.ExitAll(job, 137);
    cluster_.ClearAll(job);
    cluster_.Pass(1000);
    if (cluster_.StateOf(job) == v1::JOB_STATE_RECOVERING) cluster_.Stop(job, true);
    cluster_.Settle();
  }
}

TEST_F(QuarantineTest, ChecksThatPassReleaseTheNodeOnceItsTimeIsOver) {
  ReportDeviceError("a", 79, cluster_.now);
  ASSERT_TRUE(IsQuarantined("a"));
  ReportChecks("a", true);
  EXPECT_TRUE(IsQuarantined("a")) << "too early";
  cluster_.now += cluster_.options.quarantine_ms;
  ReportChecks("a", false);
  EXPECT_TRUE(IsQuarantined("a")) << "a check fails";
  ReportChecks("a", true);
  EXPECT_FALSE(IsQuarantined("a"));
  EXPECT_TRUE(IsHealthy(Node("a")));
  EXPECT_EQ(Node("a").released_time_ms(), cluster_.now);
  EXPECT_LT(ScoreOf(Node("a"), cluster_.now), 100) << "its past still counts for the score";
}

TEST_F(QuarantineTest, AUserReleasesTheNodeAndItsEvidenceCountsNoMore) {
  ReportDeviceError("a", 94, cluster_.now);
  cluster_.Pass(120'000);
  ReportDeviceError("a", 94, cluster_.now);
  ASSERT_TRUE(IsQuarantined("a"));
  v1::ReleaseNodeRequest request;
  request.set_node("a");
  request.set_user("ann");
  const std::vector<v1::Event> events = cluster_.Do(ReleaseNode{request});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].actor(), "user ann");
  EXPECT_TRUE(IsHealthy(Node("a")));
  EXPECT_TRUE(cluster_.Do(ReleaseNode{request}).empty()) << "repeating it changes nothing";
  cluster_.Pass(120'000);
  ReportDeviceError("a", 94, cluster_.now);
  EXPECT_FALSE(IsQuarantined("a")) << "the first failure since the release";
  request.set_node("none");
  EXPECT_EQ(cluster_.Try(ReleaseNode{request}).code(), absl::StatusCode::kNotFound);
}

TEST_F(QuarantineTest, ReleaseEndsTheWaitAfterFailedStartsToo) {
  ReportDeviceError("a", 79, cluster_.now);
  v1::Attempt attempt;
  attempt.set_placed_time_ms(cluster_.now);
  const auto failed = FailedStart(cluster_.state.nodes.at("a"), attempt, "disk full", cluster_.now);
  EXPECT_TRUE(failed->node_unhealthy().health().has_quarantine()) << "the quarantine stays";
  v1::Node node = Node("a");
  *node.mutable_health() = failed->node_unhealthy().health();
  EXPECT_TRUE(WithoutFailedStarts(node, cluster_.now).has_node_unhealthy());
  EndQuarantine(cluster_.now, node);
  EXPECT_TRUE(WithoutFailedStarts(node, cluster_.now).has_node_healthy());
}

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

}  // namespace
}  // namespace trainyard::controller

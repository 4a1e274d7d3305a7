// Tests how node faults are distinguished from job faults: by failed starts, workers' reports and
// recovery.
#include "controller/core/health/node_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/explain/explain.h"
#include "controller/core/observations/observe.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

class NodeHealthTest : public testing::Test {
 protected:
  // Makes the node of rank 0 report a failed start of the rank, with this fault.
  void FailStart(int64_t job_id, v1::StartFault fault) {
    v1::RankExited exited;
    exited.set_rank(0);
    exited.set_exit_code(127);
    exited.set_spawn_error("cannot write start.json: No space left on device");
    exited.set_start_fault(fault);
    exited.set_time_ms(cluster_.now);
    cluster_.Exit(job_id, exited);
    cluster_.Settle();
    cluster_.ClearAll(job_id);
    cluster_.Settle();
  }
  void Report(const std::string& node_id, const std::string& trouble) {
    v1::Heartbeat heartbeat;
    heartbeat.mutable_condition()->set_trouble(trouble);
    ObserveHeartbeat(node_id, heartbeat, cluster_.now, cluster_.state, cluster_.observations);
    cluster_.Settle();
  }
  const v1::Node& Node(const std::string& id) { return cluster_.state.nodes.at(id).node; }
  std::string Why(int64_t job_id) {
    const JobEntry& entry = cluster_.state.jobs.at(job_id);
    return ExplainJob(cluster_.View(), entry).answer();
  }

  TestCluster cluster_;
};

TEST_F(NodeHealthTest, JobGoesElsewhereWithoutUsingItsBudget) {
  cluster_.AddNode("a", 1);
  cluster_.AddNode("b", 1);
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.Settle();
  ASSERT_EQ(cluster_.Placement(job), "a:0");
  FailStart(job, v1::START_FAULT_NODE);
  EXPECT_EQ(cluster_.Placement(job), "b:0") << "at once";
  EXPECT_EQ(cluster_.Job(job).restarts(), 0);
  EXPECT_EQ(cluster_.Job(job).attempts(0).verdict().cause(), v1::VERDICT_CAUSE_NODE_FAULT);
  EXPECT_THAT(
      cluster_.Job(job).attempts(0).verdict().summary(),
      testing::AllOf(HasSubstr("because of a fault of its node"), HasSubstr("No space left")));
  EXPECT_EQ(Node("a").health().failed_starts(), 1);
  EXPECT_THAT(Node("a").health().reason(), HasSubstr("could not start rank 0 of job 1 (job)"));
}

TEST_F(NodeHealthTest, ANodeThatFailsEveryStartDrawsFewJobsAndFailsNone) {
  cluster_.AddNode("a", 4);
  cluster_.AddNode("b", 1);
  std::vector<int64_t> jobs;
  for (int i = 0; i < 12; ++i) jobs.push_back(cluster_.Submit(absl::StrCat("job-", i), 1, 1));
  int failed_starts = 0;
  const Timestamp end = cluster_.now + 60'000;
  while (cluster_.now < end) {
    cluster_.Pass(500);
    for (const int64_t job : jobs) {
      if (LiveAttempt(cluster_.state.jobs.at(job)) == nullptr) continue;
      if (cluster_.Placement(job) == "b:0") {
        cluster_.StartAll(job);
        cluster_.ExitAll(job, 0);
        cluster_.ClearAll(job);
      } else {
        FailStart(job, v1::START_FAULT_NODE);
        ++failed_starts;
      }
    }
  }
  for (const int64_t job : jobs) {
    EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_SUCCEEDED) << cluster_.Job(job).DebugString();
    EXPECT_EQ(cluster_.Job(job).restarts(), 0);
  }
  // Four jobs fail at once, before the fault is known. After that, further jobs fail one at a time:
  // after 5 s, 10 s, 20 s and 40 s.
  EXPECT_LE(failed_starts, 4 + 4);
}

TEST_F(NodeHealthTest, AttemptsThatFailTogetherAreOneFailure) {
  cluster_.AddNode("a", 4);
  for (int i = 0; i < 4; ++i) cluster_.Submit(absl::StrCat("job-", i), 1, 1);
  cluster_.Settle();
  cluster_.now += 100;
  for (int64_t job = 1; job <= 4; ++job) FailStart(job, v1::START_FAULT_NODE);
  EXPECT_EQ(Node("a").health().failed_starts(), 1);
  EXPECT_EQ(Node("a").health().retry_not_before_ms(), cluster_.now + kFirstRetryMs);
}

TEST_F(NodeHealthTest, AnAttemptPlacedInTheMillisecondOfAFailureIsNoNews) {
  cluster_.AddNode("a", 2);
  const int64_t first = cluster_.Submit("first", 1, 1);
  const int64_t second = cluster_.Submit("second", 1, 1);
  cluster_.Settle();
  for (const int64_t job : {first, second}) FailStart(job, v1::START_FAULT_NODE);
  EXPECT_EQ(Node("a").health().failed_starts(), 1);
}

TEST_F(NodeHealthTest, TheNodeIsTriedWithOneAttemptAndComesBackByItself) {
  cluster_.AddNode("a", 2);
  const int64_t first = cluster_.Submit("first", 1, 1);
  const int64_t second = cluster_.Submit("second", 1, 1);
  cluster_.Settle();
  cluster_.now += 100;
  FailStart(first, v1::START_FAULT_NODE);
  FailStart(second, v1::START_FAULT_NODE);
  const Timestamp since_ms = cluster_.now;
  EXPECT_EQ(Node("a").health().since_ms(), since_ms);
  EXPECT_EQ(cluster_.StateOf(first), v1::JOB_STATE_RECOVERING);
  EXPECT_THAT(Why(first), testing::AllOf(HasSubstr("a is unhealthy: could not start rank 0"),
                                         HasSubstr("retry in 5")));
  cluster_.Pass(kFirstRetryMs);
  EXPECT_EQ(cluster_.StateOf(first), v1::JOB_STATE_STARTING);
  EXPECT_EQ(cluster_.StateOf(second), v1::JOB_STATE_RECOVERING) << "one attempt tries the node";
  FailStart(first, v1::START_FAULT_NODE);
  EXPECT_EQ(Node("a").health().retry_not_before_ms(), cluster_.now + 2 * kFirstRetryMs);
  EXPECT_EQ(Node("a").health().since_ms(), since_ms) << "unhealthy since the first failure";
  cluster_.Pass(2 * kFirstRetryMs);
  cluster_.StartAll(first);
  EXPECT_TRUE(IsHealthy(Node("a")));
  EXPECT_EQ(cluster_.StateOf(second), v1::JOB_STATE_STARTING);
}

TEST_F(NodeHealthTest, AStartOfAnEarlierAttemptDoesNotHealTheNode) {
  cluster_.AddNode("a", 2);
  const int64_t first = cluster_.Submit("first", 1, 1);
  const int64_t second = cluster_.Submit("second", 1, 1);
  cluster_.Settle();
  cluster_.now += 100;
  FailStart(first, v1::START_FAULT_NODE);
  cluster_.StartAll(second);
  EXPECT_FALSE(IsHealthy(Node("a")));
}

TEST_F(NodeHealthTest, AProgramThatTwoNodesLackFailsTheJob) {
  for (const char* id : {"a", "b", "c"}) cluster_.AddNode(id, 1);
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.Settle();
  FailStart(job, v1::START_FAULT_JOB);
  EXPECT_EQ(cluster_.Placement(job), "b:0") << "another node may have the program";
  EXPECT_TRUE(IsHealthy(Node("a")));
  FailStart(job, v1::START_FAULT_JOB);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_FAILED);
  EXPECT_THAT(cluster_.Job(job).verdict().summary(),
              HasSubstr("a could not start the rank either"));
  EXPECT_EQ(cluster_.Job(job).restarts(), 0);
}

TEST_F(NodeHealthTest, AProgramThatOnlyOneNodeLacksRunsOnTheOther) {
  cluster_.AddNode("a", 1);
  cluster_.AddNode("b", 1);
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.Settle();
  FailStart(job, v1::START_FAULT_JOB);
  cluster_.RunJob(job);
  EXPECT_EQ(cluster_.Placement(job), "b:0");
}

TEST_F(NodeHealthTest, AProgramThatTheOnlyNodeLacksFailsTheJobAtOnce) {
  cluster_.AddNode("a", 1);
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.Settle();
  FailStart(job, v1::START_FAULT_JOB);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_FAILED);
  EXPECT_THAT(cluster_.Job(job).verdict().summary(), HasSubstr("no other node can run the job"));
}

TEST_F(NodeHealthTest, AFullFileServerBlamesNoNodeAndUsesTheBudget) {
  cluster_.AddNode("a", 1);
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.Settle();
  FailStart(job, v1::START_FAULT_STORAGE);
  EXPECT_TRUE(IsHealthy(Node("a")));
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_RECOVERING);
  EXPECT_EQ(cluster_.Job(job).restarts(), 1);
}

TEST_F(NodeHealthTest, ANodeThatReportsTroubleTakesNoRanksUntilTheReportEnds) {
  cluster_.AddNode("a", 1);
  Report("a", "the disk of /data has 1.0 MiB free");
  EXPECT_EQ(Node("a").health().reported(), "the disk of /data has 1.0 MiB free");
  EXPECT_EQ(Node("a").health().since_ms(), cluster_.now);
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(Why(job), HasSubstr("a is unhealthy: the disk of /data has 1.0 MiB free"));
  cluster_.now += 1000;
  Report("a", "");
  EXPECT_TRUE(IsHealthy(Node("a")));
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STARTING);
}

TEST_F(NodeHealthTest, RanksThatRunGoOnWhileTheirNodeReportsTrouble) {
  cluster_.AddNode("a", 1);
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.RunJob(job);
  Report("a", "the disk of /data has 1.0 MiB free");
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(cluster_.Job(job).attempts_size(), 1);
}

TEST_F(NodeHealthTest, TheEndOfTheReportedTroubleEndsTheWaitAfterFailedStarts) {
  cluster_.AddNode("a", 1);
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.Settle();
  cluster_.now += 100;
  FailStart(job, v1::START_FAULT_NODE);
  Report("a", "full");
  EXPECT_EQ(Node("a").health().retry_not_before_ms(), cluster_.now + kFirstRetryMs);
  cluster_.now += 1000;
  Report("a", "");
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STARTING);
  EXPECT_FALSE(IsHealthy(Node("a"))) << "until a start succeeds";
  cluster_.StartAll(job);
  EXPECT_TRUE(IsHealthy(Node("a")));
}

TEST_F(NodeHealthTest, UncordonEndsTheWaitAndARestartOfTheWorkerDoesNot) {
  cluster_.AddNode("a", 1);
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.Settle();
  FailStart(job, v1::START_FAULT_NODE);
  v1::Hello hello = cluster_.HelloOf("a");
  hello.set_incarnation("another");
  cluster_.Do(AttachWorker{hello});
  EXPECT_FALSE(IsHealthy(Node("a")));
  v1::CordonNodeRequest uncordon;
  uncordon.set_node("a");
  cluster_.Do(CordonNode{uncordon, {"ada"}});
  EXPECT_TRUE(IsHealthy(Node("a")));
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STARTING);
}

TEST_F(NodeHealthTest, AReleaseForgetsFailedStartsAndKeepsWhatIsReported) {
  cluster_.AddNode("a", 1);
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.Settle();
  FailStart(job, v1::START_FAULT_NODE);
  Report("a", "full");
  v1::ReleaseNodeRequest release;
  release.set_node("a");
  const std::vector<v1::Event> events = cluster_.Do(ReleaseNode{release, {"ada"}});
  ASSERT_FALSE(events.empty());
  for (const v1::Event& event : events) EXPECT_EQ(event.actor(), "user ada");
  const v1::NodeHealth& health = Node("a").health();
  EXPECT_EQ(health.reason(), "full");
  EXPECT_EQ(health.failed_starts(), 0);
  EXPECT_EQ(health.failed_time_ms(), 0);
  EXPECT_EQ(health.retry_not_before_ms(), 0);
}

TEST_F(NodeHealthTest, ARecoveringJobLeavesAnUnhealthyNode) {
  cluster_.AddNode("a", 1);
  cluster_.AddNode("b", 1);
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.RunJob(job);
  Report("a", "full");
  cluster_.ExitAll(job, 1);
  cluster_.ClearAll(job);
  cluster_.now += 1000;
  cluster_.Settle();
  EXPECT_EQ(cluster_.Placement(job), "b:0");
}

TEST_F(NodeHealthTest, AClockThatIsSetBackKeepsNoNodeOut) {
  cluster_.AddNode("a", 1);
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.Settle();
  cluster_.now += 100;
  FailStart(job, v1::START_FAULT_NODE);
  cluster_.StepClock(-3 * 3'600'000);
  cluster_.Pass(30'000);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STARTING);
  cluster_.StartAll(job);
  EXPECT_TRUE(IsHealthy(Node("a")));
}

TEST_F(NodeHealthTest, HealthIsPartOfASnapshot) {
  cluster_.AddNode("a", 1);
  Report("a", "full");
  const ClusterState copy = FromSnapshot(ToSnapshot(cluster_.state, 1));
  EXPECT_EQ(Bytes(copy), Bytes(cluster_.state));
  EXPECT_EQ(copy.unhealthy_nodes, cluster_.state.unhealthy_nodes);
}

TEST_F(NodeHealthTest, AFailedStartIsAnEventOfTheControllerWithAllFigures) {
  NodeEntry node;
  node.node.set_id("a");
  node.node.mutable_health()->set_failed_starts(1);
  node.node.mutable_health()->set_since_ms(40);
  v1::Attempt attempt;
  attempt.set_placed_time_ms(50);
  v1::Event expected;
  expected.set_time_ms(77);
  expected.set_actor("controller");
  expected.mutable_node_unhealthy()->set_node_id("a");
  v1::NodeHealth& health = *expected.mutable_node_unhealthy()->mutable_health();
  health.set_reason("full");
  health.set_since_ms(40);
  health.set_failed_starts(2);
  health.set_retry_not_before_ms(77 + 2 * kFirstRetryMs);
  health.set_failed_time_ms(77);
  const auto event = FailedStart(node, attempt, "full", 77);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->DebugString(), expected.DebugString());
}

TEST_F(NodeHealthTest, TheTextNamesTheReasonTheReportAndTheNextTry) {
  struct Case {
    const char* reason;
    const char* reported;
    int failed_starts;
    Timestamp retry_ms;
    const char* text;
  };
  constexpr Timestamp kNowMs = 100'000;
  for (const Case& one : {
           Case{"full", "full", 0, 0, "unhealthy: full"},
           Case{"full", "", 0, 0, "unhealthy: full"},
           Case{"no start", "full", 1, kNowMs, "unhealthy: no start; full"},
           Case{"no start", "", 1, kNowMs,
                "unhealthy: no start; one attempt may be placed on the node as a test"},
           Case{"no start", "", 1, kNowMs + 3000, "unhealthy: no start; retry in 3 s"},
           Case{"no start", "full", 1, kNowMs + 3000, "unhealthy: no start; full; retry in 3 s"},
       }) {
    v1::Node node;
    node.mutable_health()->set_reason(one.reason);
    node.mutable_health()->set_reported(one.reported);
    node.mutable_health()->set_failed_starts(one.failed_starts);
    node.mutable_health()->set_failed_time_ms(one.failed_starts == 0 ? 0 : kNowMs - 1000);
    node.mutable_health()->set_retry_not_before_ms(one.retry_ms);
    EXPECT_EQ(HealthText(node, kNowMs), one.text);
  }
}

TEST_F(NodeHealthTest, ATroubleOfAnUnhealthyNodeIsReportedOnce) {
  cluster_.AddNode("a", 1);
  cluster_.AddNode("b", 1);
  for (const char* id : {"a", "b"}) {
    cluster_.state.nodes.at(id).node.mutable_health()->set_failed_starts(1);
    cluster_.state.unhealthy_nodes.insert(id);
  }
  v1::Heartbeat heartbeat;
  heartbeat.mutable_condition()->set_trouble("full");
  ObserveHeartbeat("a", heartbeat, cluster_.now, cluster_.state, cluster_.observations);
  cluster_.observations.nodes.erase("b");
  const std::vector<v1::Event> events =
      ReportedHealthDue(cluster_.state, cluster_.observations, cluster_.now);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].node_unhealthy().node_id(), "a");
  EXPECT_EQ(events[0].node_unhealthy().health().reported(), "full");
}

TEST_F(NodeHealthTest, TheEndOfATroubleSetsNoRetryOfANodeWithoutFailedStarts) {
  cluster_.AddNode("a", 1);
  v1::NodeHealth& health = *cluster_.state.nodes.at("a").node.mutable_health();
  health.set_reported("full");
  health.mutable_quarantine()->set_reason("broken");
  cluster_.state.unhealthy_nodes.insert("a");
  const std::vector<v1::Event> events =
      ReportedHealthDue(cluster_.state, cluster_.observations, cluster_.now);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].node_unhealthy().health().reported(), "");
  EXPECT_EQ(events[0].node_unhealthy().health().retry_not_before_ms(), 0);
}

TEST(NodeWordTest, TheWorstWordWins) {
  v1::Node node;
  node.set_state(v1::NODE_STATE_READY);
  EXPECT_EQ(WordOf(node), v1::NODE_WORD_OK);
  node.set_cordoned(true);
  EXPECT_EQ(WordOf(node), v1::NODE_WORD_CORDONED);
  node.mutable_drain()->set_since_ms(1);
  EXPECT_EQ(WordOf(node), v1::NODE_WORD_DRAINING);
  node.mutable_drain()->set_drained_ms(2);
  EXPECT_EQ(WordOf(node), v1::NODE_WORD_DRAINED);
  node.mutable_health()->set_reason("disk full");
  EXPECT_EQ(WordOf(node), v1::NODE_WORD_UNHEALTHY);
  node.mutable_health()->mutable_quarantine()->set_reason("broken");
  EXPECT_EQ(WordOf(node), v1::NODE_WORD_QUARANTINED);
  node.set_state(v1::NODE_STATE_SUSPECT);
  EXPECT_EQ(WordOf(node), v1::NODE_WORD_SUSPECT);
  node.set_state(v1::NODE_STATE_LOST);
  EXPECT_EQ(WordOf(node), v1::NODE_WORD_LOST);
}

TEST_F(NodeHealthTest, TheTextOfACordonShowsTheStateOfADrain) {
  v1::Node node;
  node.set_cordoned(true);
  node.set_cordon_reason("bad fan (user ada)");
  EXPECT_EQ(CordonText(node, 0), "cordoned: bad fan (user ada)");
  node.mutable_drain()->set_deadline_ms(1'500'000);
  EXPECT_EQ(CordonText(node, 0), "draining (jobs leave within 25 min): bad fan (user ada)");
  EXPECT_EQ(CordonText(node, 1'500'000), "draining (jobs are leaving): bad fan (user ada)");
  node.mutable_drain()->set_drained_ms(2'000'000);
  EXPECT_EQ(CordonText(node, 2'000'000), "drained: bad fan (user ada)");
}

}  // namespace
}  // namespace trainyard::controller

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/core/apply/apply.h"
#include "controller/core/decide/references.h"
#include "controller/core/explain/pending_reason.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

CordonNode Cordon(const std::string& node, bool cordoned = true) {
  CordonNode cordon{.request = {}, .principal = {"ada"}};
  cordon.request.set_node(node);
  cordon.request.set_cordoned(cordoned);
  cordon.request.set_reason("bad fan");
  return cordon;
}

TEST(CordonTest, KeepsNewRanksOffAndLetsThemOnAgain) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  cluster.Do(Cordon("a"));
  const int64_t job = cluster.Submit("job", 1, 2);
  cluster.Settle();
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(Kinds(cluster.Do(Cordon("a", false))), testing::ElementsAre("NodeUncordoned"));
  cluster.Settle();
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_STARTING);
}

TEST(CordonTest, LeavesRunningRanksAloneAndSurvivesAWorkerRestart) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  const int64_t job = cluster.Submit("job", 1, 2);
  cluster.Settle();
  cluster.StartAll(job);
  cluster.Do(Cordon("a"));
  cluster.Pass(10'000);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_RUNNING);
  v1::Hello hello = cluster.HelloOf("a");
  hello.set_incarnation("another");
  cluster.Do(AttachWorker{hello});
  const v1::Node& node = cluster.state.nodes.at("a").node;
  EXPECT_TRUE(node.cordoned());
  EXPECT_EQ(node.cordon_reason(), "bad fan (user ada)");
}

v1::PendingReason Pending(const TestCluster& cluster, int64_t job) {
  return WhyPending(cluster.View(), cluster.state.jobs.at(job));
}

TEST(CordonTest, AWaitingJobIsToldTheReasonAndHowToLiftIt) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  cluster.AddNode("b", 2);
  cluster.Do(Cordon("a"));
  const int64_t job = cluster.Submit("job", 2, 2);
  const v1::PendingReason reason = Pending(cluster, job);
  EXPECT_THAT(reason.message(), testing::HasSubstr("a is cordoned: bad fan (user ada)"));
  EXPECT_EQ(reason.advice(), "to let the job start, run `trainyard node uncordon a`");
  cluster.Do(Cordon("b"));
  EXPECT_EQ(
      Pending(cluster, job).advice(),
      "to let the job start, run `trainyard node uncordon a` and `trainyard node uncordon b`");
}

TEST(CordonTest, OnlyCordonedNodesAreNamedInTheAdvice) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  cluster.AddNode("b", 2);
  cluster.Do(Cordon("b"));
  EXPECT_EQ(Pending(cluster, cluster.Submit("job", 2, 2)).advice(),
            "to let the job start, run `trainyard node uncordon b`");
}

TEST(CordonTest, ARestartElsewhereFreesTheSlotOnTheCordonedNode) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.AddNode("b", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  ASSERT_EQ(cluster.Placement(job), "a:0");
  cluster.Do(Cordon("a"));
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  EXPECT_EQ(cluster.state.nodes.at("a").node.slot_uses(0).job_id(), job);
  cluster.Pass(1000);
  EXPECT_EQ(cluster.Placement(job), "b:0");
  EXPECT_EQ(cluster.state.nodes.at("a").node.slot_uses(0).job_id(), 0);
}

TEST(CordonTest, ACordonThatIsNotInTheWayIsNoAdvice) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.AddNode("b", 2);
  cluster.RunJob(cluster.Submit("running", 1, 2));
  cluster.Do(Cordon("a"));
  const v1::PendingReason reason = Pending(cluster, cluster.Submit("wide", 1, 2));
  EXPECT_THAT(reason.message(), testing::HasSubstr("a is cordoned: bad fan"));
  EXPECT_EQ(reason.advice(), "`trainyard ps` shows the jobs that use the slots");
}

TEST(CordonTest, WithoutAReasonItNamesItsUserAndUncordoningClearsIt) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  CordonNode cordon = Cordon("a");
  cordon.request.clear_reason();
  const std::vector<v1::Event> events = cluster.Do(cordon);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].time_ms(), cluster.now);
  const v1::Node& node = cluster.state.nodes.at("a").node;
  EXPECT_EQ(node.cordon_reason(), "by user ada");
  cluster.Do(Cordon("a", false));
  EXPECT_FALSE(node.cordoned());
  EXPECT_EQ(node.cordon_reason(), "");
}

TEST(CordonTest, LongTextsAreRefused) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  CordonNode cordon = Cordon("a");
  cordon.request.set_reason(std::string(257, 'x'));
  EXPECT_EQ(cluster.Try(cordon).code(), absl::StatusCode::kInvalidArgument);
  cordon.request.set_reason(std::string(256, 'x'));
  EXPECT_TRUE(cluster.Try(cordon).ok());
}

TEST(CordonTest, ANodeIsFoundByItsIdOrByANameThatIsItsOwn) {
  TestCluster cluster;
  for (const char* id : {"a", "b", "c"}) cluster.AddNode(id, 1);
  for (const char* id : {"a", "b"}) {
    cluster.state.nodes.at(id).node.set_name("twin");
  }
  cluster.state.nodes.at("c").node.set_name("other");
  EXPECT_EQ(*FindNode(cluster.state, "a"), "a");
  EXPECT_EQ(*FindNode(cluster.state, "other"), "c");
  EXPECT_EQ(NodeName(cluster.state, "c"), "other");
  EXPECT_EQ(NodeName(cluster.state, "x"), "x");
  const absl::Status twins = FindNode(cluster.state, "twin").status();
  EXPECT_EQ(twins.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(twins.message(), "several nodes are called `twin`; use an id: a or b");
  EXPECT_EQ(FindNode(cluster.state, std::string(256, 'x')).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(FindNode(cluster.state, std::string(257, 'x')).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(CordonTest, RepeatingItChangesNothingAndUnknownNodesAreNamed) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  EXPECT_EQ(cluster.Do(Cordon("a")).size(), 1u);
  EXPECT_TRUE(cluster.Do(Cordon("a")).empty());
  EXPECT_EQ(cluster.Try(Cordon("b")).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(cluster.Try(Cordon("")).code(), absl::StatusCode::kInvalidArgument);
}

TEST(CordonTest, ADeadlineOfADrainHasBounds) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  CordonNode drain = Cordon("a");
  drain.request.set_drain_after_ms(-1);
  EXPECT_EQ(cluster.Try(drain).message(),
            "drain_after_ms is -1; it must be between 0 and 2592000000 (30 days)");
  drain.request.set_drain_after_ms(2'592'000'001);
  EXPECT_EQ(cluster.Try(drain).code(), absl::StatusCode::kInvalidArgument);
  drain.request.set_drain_after_ms(2'592'000'000);
  EXPECT_TRUE(cluster.Try(drain).ok());
  drain.request.set_cordoned(false);
  EXPECT_EQ(cluster.Try(drain).message(),
            "drain_after_ms was set for a node to uncordon; set `cordoned`, or remove "
            "drain_after_ms");
}

}  // namespace
}  // namespace trainyard::controller

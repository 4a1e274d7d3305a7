#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/core/decide/references.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/state/apply.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

v1::CordonNodeRequest Cordon(const std::string& node, bool cordoned = true) {
  v1::CordonNodeRequest request;
  request.set_node(node);
  request.set_cordoned(cordoned);
  request.set_reason("bad fan");
  request.set_user("ada");
  return request;
}

TEST(CordonTest, KeepsNewRanksOffAndLetsThemOnAgain) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  cluster.Do(CordonNode{Cordon("a")});
  const int64_t job = cluster.Submit("job", 1, 2);
  cluster.Settle();
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(Kinds(cluster.Do(CordonNode{Cordon("a", false)})),
              testing::ElementsAre("NodeUncordoned"));
  cluster.Settle();
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_STARTING);
}

TEST(CordonTest, LeavesRunningRanksAloneAndSurvivesAWorkerRestart) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  const int64_t job = cluster.Submit("job", 1, 2);
  cluster.Settle();
  cluster.StartAll(job);
  cluster.Do(CordonNode{Cordon("a")});
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
  cluster.Do(CordonNode{Cordon("a")});
  const int64_t job = cluster.Submit("job", 2, 2);
  const v1::PendingReason reason = Pending(cluster, job);
  EXPECT_THAT(reason.message(), testing::HasSubstr("a is cordoned: bad fan (user ada)"));
  EXPECT_EQ(reason.advice(), "`trainyard node uncordon a` would let it start");
  cluster.Do(CordonNode{Cordon("b")});
  EXPECT_EQ(Pending(cluster, job).advice(),
            "`trainyard node uncordon a` and `trainyard node uncordon b` would let it start");
}

TEST(CordonTest, OnlyCordonedNodesAreNamedInTheAdvice) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  cluster.AddNode("b", 2);
  cluster.Do(CordonNode{Cordon("b")});
  EXPECT_EQ(Pending(cluster, cluster.Submit("job", 2, 2)).advice(),
            "`trainyard node uncordon b` would let it start");
}

TEST(CordonTest, ARestartElsewhereFreesTheSlotOnTheCordonedNode) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.AddNode("b", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  ASSERT_EQ(cluster.Placement(job), "a:0");
  cluster.Do(CordonNode{Cordon("a")});
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
  cluster.Do(CordonNode{Cordon("a")});
  const v1::PendingReason reason = Pending(cluster, cluster.Submit("wide", 1, 2));
  EXPECT_THAT(reason.message(), testing::HasSubstr("a is cordoned: bad fan"));
  EXPECT_EQ(reason.advice(), "`trainyard ps` shows the jobs that use the slots");
}

TEST(CordonTest, WithoutAReasonItNamesItsUserAndUncordoningClearsIt) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  v1::CordonNodeRequest request = Cordon("a");
  request.clear_reason();
  const std::vector<v1::Event> events = cluster.Do(CordonNode{request});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].time_ms(), cluster.now);
  const v1::Node& node = cluster.state.nodes.at("a").node;
  EXPECT_EQ(node.cordon_reason(), "by user ada");
  cluster.Do(CordonNode{Cordon("a", false)});
  EXPECT_FALSE(node.cordoned());
  EXPECT_EQ(node.cordon_reason(), "");
}

TEST(CordonTest, LongTextsAreRefused) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  v1::CordonNodeRequest request = Cordon("a");
  request.set_reason(std::string(257, 'x'));
  EXPECT_EQ(cluster.Try(CordonNode{request}).code(), absl::StatusCode::kInvalidArgument);
  request.set_reason(std::string(256, 'x'));
  EXPECT_TRUE(cluster.Try(CordonNode{request}).ok());
  request.set_user(std::string(129, 'x'));
  EXPECT_EQ(cluster.Try(CordonNode{request}).code(), absl::StatusCode::kInvalidArgument);
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
  EXPECT_EQ(cluster.Do(CordonNode{Cordon("a")}).size(), 1u);
  EXPECT_TRUE(cluster.Do(CordonNode{Cordon("a")}).empty());
  EXPECT_EQ(cluster.Try(CordonNode{Cordon("b")}).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(cluster.Try(CordonNode{Cordon("")}).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace trainyard::controller

#include "controller/core/health/node_evidence.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/health/peer_progress_fixture.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(NodeEvidenceTest, NoHeartbeatMakesANodeSuspectAndOneMakesItReady) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.StopHeartbeats("a");
  EXPECT_THAT(cluster.Pass(2500), IsEmpty());
  EXPECT_THAT(Kinds(cluster.Pass(500)), ElementsAre("NodeSuspected"));
  EXPECT_EQ(cluster.state.nodes.at("a").node.state_reason(), "no heartbeat for 3000 ms");
  EXPECT_THAT(cluster.Pass(60000), IsEmpty());
  cluster.Wake("a");
  EXPECT_THAT(Kinds(cluster.Pass(500)), ElementsAre("NodeReturned"));
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_RUNNING);
}

TEST(NodeEvidenceTest, IdleNodeIsLostAndReturnsByAHeartbeat) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.StopHeartbeats("a");
  EXPECT_THAT(Kinds(cluster.Pass(8000)), ElementsAre("NodeSuspected", "NodeLost"));
  EXPECT_THAT(cluster.state.nodes.at("a").node.state_reason(), HasSubstr("no heartbeat for 8 s"));
  EXPECT_THAT(cluster.state.lost_nodes, ElementsAre("a"));
  EXPECT_TRUE(cluster.state.free_nodes[v1::DEVICE_KIND_CPU].empty());
  EXPECT_THAT(Kinds(cluster.Do(AttachWorker{cluster.HelloOf("a")})), ElementsAre("NodeJoined"));
  EXPECT_EQ(cluster.NodeStateOf("a"), v1::NODE_STATE_READY);
  EXPECT_THAT(cluster.state.lost_nodes, IsEmpty());
}

TEST(NodeEvidenceTest, HeartbeatAgeCountsFromTheStartOfTheController) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.StopHeartbeats("a");
  cluster.now += 100000;
  RestartController(cluster);
  EXPECT_THAT(cluster.Pass(2500), IsEmpty());
  EXPECT_THAT(Kinds(cluster.Pass(500)), ElementsAre("NodeSuspected"));
}

TEST(NodeEvidenceTest, EventsAboutANodeComeFromTheControllerAndNow) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const Timestamp joined = cluster.now;
  cluster.StopHeartbeats("a");
  cluster.Pass(2999);
  const std::vector<v1::Event> suspected = cluster.Pass(1);
  ASSERT_THAT(Kinds(suspected), ElementsAre("NodeSuspected"));
  EXPECT_EQ(suspected[0].time_ms(), cluster.now);
  EXPECT_EQ(suspected[0].actor(), "controller");
  EXPECT_EQ(suspected[0].node_suspected().node_id(), "a");
  EXPECT_EQ(suspected[0].node_suspected().last_heartbeat_ms(), joined);
  EXPECT_THAT(cluster.Pass(4999), IsEmpty());
  const std::vector<v1::Event> lost = cluster.Pass(1);
  ASSERT_THAT(Kinds(lost), ElementsAre("NodeLost"));
  EXPECT_EQ(lost[0].node_lost().node_id(), "a");
  EXPECT_EQ(lost[0].node_lost().reason(),
            "no heartbeat for 8 s, and no healthy attempt runs on the node");
  EXPECT_THAT(cluster.Pass(60'000), IsEmpty());
  cluster.Wake("a");
  const std::vector<v1::Event> returned = cluster.Pass(500);
  ASSERT_THAT(Kinds(returned), ElementsAre("NodeReturned"));
  EXPECT_EQ(returned[0].node_returned().node_id(), "a");
}

TEST(NodeEvidenceTest, AControllerThatHasJustStartedHasSeenNoNodeReturn) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.StopHeartbeats("a");
  cluster.Pass(5000);
  ASSERT_EQ(cluster.NodeStateOf("a"), v1::NODE_STATE_SUSPECT);
  RestartController(cluster);
  EXPECT_THAT(cluster.Pass(2500), IsEmpty());
  EXPECT_EQ(cluster.NodeStateOf("a"), v1::NODE_STATE_SUSPECT);
}

TEST(NodeEvidenceTest, PeersOfARankThatEndedWellStallForAReason) {
  TestCluster cluster;
  for (const char* id : {"a", "b", "c"}) cluster.AddNode(id, 1);
  const int64_t job = cluster.Submit("job", 3, 1);
  cluster.RunJob(job);
  v1::RankReport& report = *cluster.Report("a", job).add_ranks();
  report.set_running(true);
  for (int64_t step = 1; step <= 40; ++step) {
    cluster.Step(job, 0, step, 0.5);
    report.set_step(step);
    cluster.Pass(500);
  }
  cluster.StopHeartbeats("c");
  cluster.ExitRank(job, 1, 0);
  cluster.Pass(60000);
  EXPECT_EQ(cluster.NodeStateOf("c"), v1::NODE_STATE_SUSPECT);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_RUNNING);
}

}  // namespace
}  // namespace trainyard::controller

// Tests placement passes over queued jobs that have run before.
#include "controller/core/observations/root_sightings.h"
#include "controller/core/schedule/head_promise.h"
#include "controller/core/schedule/placement.h"
#include "controller/core/state/attempts/gang_request.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/contract/exit_code.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int kDeviceFault = static_cast<int>(ExitCode::kDeviceFault);

// Makes rank 0 fail. Then every node of the gang reports the attempt as cleared.
void FailGang(TestCluster& cluster, int64_t job, int exit_code) {
  cluster.ExitRank(job, 0, exit_code);
  cluster.Settle();
  cluster.ClearAll(job);
}

// Stops the node's heartbeats until the node is lost. Rank 0, which runs on another node, fails at
// once.
void LoseNodeOf(TestCluster& cluster, int64_t job, const std::string& node_id) {
  cluster.StopHeartbeats(node_id);
  cluster.ExitRank(job, 0, 1);
  cluster.Settle();
  for (const std::string& id : GangNodes(cluster.Attempt(job))) {
    if (id != node_id) cluster.ClearNode(job, id);
  }
  cluster.Pass(12'000);
  ASSERT_EQ(cluster.NodeStateOf(node_id), v1::NODE_STATE_LOST);
}

TEST(PlacementPassTest, AnEmptyGangHasNoRanks) { EXPECT_THAT(RanksOf({}, 1), IsEmpty()); }

TEST(PlacementPassTest, ARestartKeepsItsSpareNodeThoughAnotherIsFree) {
  TestCluster cluster;
  for (const char* id : {"a", "b", "d"}) cluster.AddNode(id, 1);
  const int64_t job = cluster.Submit(SparesSpec("job", 2, 1, 1));
  cluster.RunJob(job);
  ASSERT_EQ(cluster.Placement(job), "a:0 b:0 d:0");
  cluster.AddNode("c", 1);
  FailGang(cluster, job, 75);
  cluster.Pass(15'000);
  EXPECT_EQ(cluster.Attempt(job).number(), 2);
  EXPECT_EQ(cluster.Placement(job), "a:0 b:0 d:0");
}

TEST(PlacementPassTest, FreeSlotsOfANodeToAvoidAreNotTaken) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  ASSERT_EQ(cluster.Placement(job), "a:0");
  cluster.AddNode("b", 2);
  FailGang(cluster, job, kDeviceFault);
  cluster.Pass(10'000);
  EXPECT_EQ(cluster.Attempt(job).number(), 2);
  EXPECT_EQ(cluster.Placement(job), "b:0") << "a:1 is free";
}

TEST(PlacementPassTest, AGangStaysInTheDirectoryOfItsCheckpoints) {
  TestCluster cluster;
  RootSightings& roots = cluster.observations.roots;
  roots.path = cluster.options.checkpoint_root;
  const auto add = [&](const std::string& id, char directory) {
    cluster.AddNode(id, 1);
    v1::Heartbeat heartbeat;
    heartbeat.mutable_checkpoint_root()->set_path(roots.path);
    heartbeat.mutable_checkpoint_root()->set_nonce(std::string(32, directory));
    NoteRoot(id, heartbeat, cluster.now, roots);
  };
  for (const char* id : {"d", "e"}) add(id, '2');
  const int64_t job = cluster.Submit("job", 2, 1);
  cluster.RunJob(job);
  ASSERT_EQ(cluster.Placement(job), "d:0 e:0");
  for (const char* id : {"a", "b", "c", "g"}) add(id, '1');
  add("f", '2');
  LoseNodeOf(cluster, job, "e");
  EXPECT_EQ(cluster.Attempt(job).number(), 2);
  EXPECT_EQ(cluster.Placement(job), "d:0 f:0") << "more nodes share the other directory";
}

TEST(PlacementPassTest, UsableNodesAreTheRemainingOnesAndAtMostTheMissingFreeOnes) {
  TestCluster cluster;
  for (const char* id : {"a", "b"}) cluster.AddNode(id, 1);
  const int64_t job = cluster.Submit("job", 2, 1);
  cluster.RunJob(job);
  LoseNodeOf(cluster, job, "b");
  ASSERT_EQ(cluster.StateOf(job), v1::JOB_STATE_RECOVERING);
  const auto count = [&](bool with_free) {
    const JobEntry& entry = cluster.state.jobs.at(job);
    const GangShape shape = GangRequestOf(entry.job.spec()).Full();
    return PlacementPass(cluster.state, {}).CountUsable(entry, shape, with_free);
  };
  EXPECT_EQ(count(true), 1);
  for (const char* id : {"c", "d"}) cluster.AddNode(id, 1);
  EXPECT_EQ(count(false), 1);
  EXPECT_EQ(count(true), 2);
}

TEST(PlacementPassTest, ClosedNodesDoNotCountAsFitting) {
  TestCluster cluster;
  for (const char* id : {"a", "b", "c"}) cluster.AddNode(id, 2);
  const NodeLimits limits{.changing = {}, .closed = {"b"}, .roots = nullptr};
  const PlacementPass pass(cluster.state, limits);
  const JobEntry job;
  EXPECT_EQ(pass.CountFittingNodes(job, {1, 2, v1::DEVICE_KIND_CPU}).count, 2);
  EXPECT_EQ(pass.CountFittingNodes(job, {1, 3, v1::DEVICE_KIND_CPU}).count, 0);
}

// A gang of two nodes has GPUs of one model, so each model is tried on its own. The promise to a
// head is computed while a gang is tried, and all nodes count for it.
TEST(PlacementPassTest, ReleaseTimesDoNotDependOnTheNodesBeingTried) {
  TestCluster cluster;
  for (const char* id : {"a", "b"}) cluster.AddGpuNode(id, 1, "NVIDIA A100-SXM4-40GB");
  for (const char* id : {"c", "d"}) cluster.AddGpuNode(id, 1, "NVIDIA H200");
  v1::JobSpec spec = TestSpec("job", 2, 1);
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
  const JobEntry& job = cluster.state.jobs.at(cluster.Submit(spec));
  PlacementPass pass(cluster.state, {});
  int gangs = 0;
  pass.AcceptOnly([&](const Gang&) {
    ++gangs;
    const Releases releases = ReleasesOf(
        cluster.state, pass, v1::DEVICE_KIND_GPU, [&](int64_t) { return cluster.now; },
        cluster.now);
    EXPECT_EQ(releases.size(), 4U);
    for (const auto& [id, times] : releases) EXPECT_THAT(times, ElementsAre(cluster.now)) << id;
    return true;
  });
  EXPECT_TRUE(pass.Place(job, GangRequestOf(spec).Full()).has_value());
  EXPECT_EQ(gangs, 1);
}

TEST(PlacementPassTest, AnEmptyClusterGivesTheSmallestNodesThatSuffice) {
  TestCluster cluster;
  cluster.AddNode("a", 4);
  cluster.AddNode("b", 2);
  cluster.AddNode("c", 1);
  const auto gang = PlaceOnEmptyCluster(cluster.state, {1, 2, v1::DEVICE_KIND_CPU});
  ASSERT_TRUE(gang.has_value());
  EXPECT_EQ(gang->at(0).node_id, "b");
}

}  // namespace
}  // namespace trainyard::controller

#include "controller/core/decide/node_removal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/removed_nodes.h"
#include "controller/core/event_log/snapshot.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int64_t kDayMs = 86'400'000;

RemoveNode Removal(const std::string& node) {
  RemoveNode removal;
  removal.request.set_node(node);
  removal.principal = {"ada", Verification::kPeerCredentials};
  return removal;
}

void Lose(const std::string& node, TestCluster& cluster) {
  cluster.StopHeartbeats(node);
  cluster.Pass(30'000);
  ASSERT_EQ(cluster.NodeStateOf(node), v1::NODE_STATE_LOST);
}

TEST(NodeRemovalTest, OnlyLostNodesAreRemoved) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  EXPECT_EQ(cluster.Try(Removal("a")).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(cluster.Try(Removal("b")).code(), absl::StatusCode::kNotFound);
  Lose("a", cluster);
  const auto events = cluster.Do(Removal("a"));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].actor(), "user ada");
  EXPECT_TRUE(events[0].actor_verified());
  EXPECT_TRUE(cluster.state.nodes.empty());
  EXPECT_TRUE(cluster.state.lost_nodes.empty());
  const ClusterState restored = FromSnapshot(ToSnapshot(cluster.state, 1));
  EXPECT_EQ(Bytes(restored), Bytes(cluster.state));
  EXPECT_EQ(DifferentIndexes(restored, cluster.state), "");
}

TEST(NodeRemovalTest, ANodeThatAJobStillCountsOnStays) {
  TestCluster cluster;
  // No other rank can show progress, so only the lease decides.
  cluster.options.lease_ms = cluster.options.start_lease_ms = 10'000;
  cluster.AddNode("a", 2);
  const int64_t job = cluster.Submit("job", 1, 2);
  cluster.RunJob(job);
  Lose("a", cluster);
  const absl::Status refused = cluster.Try(Removal("a"));
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("trainyard stop 1"));
  cluster.AddNode("b", 2);
  cluster.Pass(5'000);
  EXPECT_THAT(cluster.Placement(job), HasSubstr("b:0"));
  cluster.Do(Removal("a"));
  cluster.Pass(5'000);
  EXPECT_EQ(cluster.state.nodes.count("a"), 0u);
}

TEST(NodeRemovalTest, AWorkerThatComesBackGoesOnWithItsFactsAndItsSecret) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  const int64_t job = cluster.Submit("job", 1, 2);
  cluster.RunJob(job);
  cluster.ExitAll(job, 0);
  cluster.ClearAll(job);
  v1::Hello hello = cluster.HelloOf("a");
  hello.set_node_secret("hash-of-a");
  hello.set_incarnation("second");
  cluster.Do(AttachWorker{hello});
  const uint64_t facts = cluster.state.nodes.at("a").fact_sequence;
  ASSERT_GT(facts, 0u);
  Lose("a", cluster);
  cluster.Do(Removal("a"));
  const ClusterState restored = FromSnapshot(ToSnapshot(cluster.state, 1));
  EXPECT_EQ(restored.removed_nodes.at("a").fact_sequence, facts);
  v1::Hello foreign = hello;
  foreign.set_node_secret("another");
  EXPECT_EQ(cluster.Try(AttachWorker{foreign}).code(), absl::StatusCode::kPermissionDenied);
  cluster.Do(AttachWorker{hello});
  EXPECT_EQ(cluster.state.nodes.at("a").fact_sequence, facts);
  EXPECT_EQ(cluster.state.nodes.at("a").binding.secret_hash, "hash-of-a");
  EXPECT_TRUE(cluster.state.removed_nodes.empty());
}

TEST(NodeRemovalTest, OnlyTheNodesThatWereRemovedLastAreRemembered) {
  ClusterState state;
  const auto remove = [&](int number) {
    const std::string id = absl::StrCat("node-", number);
    state.nodes[id].binding.secret_hash = "hash";
    ForgetNode(id, 1000 + number, state);
  };
  const int removed = static_cast<int>(kMaxRemovedNodes) + 2;
  for (int number = 0; number < removed; ++number) remove(number);
  EXPECT_EQ(state.removed_nodes.size(), kMaxRemovedNodes);
  EXPECT_FALSE(state.removed_nodes.contains("node-1"));
  EXPECT_TRUE(state.removed_nodes.contains("node-2"));
  const ClusterState restored = FromSnapshot(ToSnapshot(state, 1));
  EXPECT_EQ(restored.removed_nodes.at("node-2").removed_ms, 1002);
}

TEST(NodeRemovalTest, ANodeThatIsLostForAWeekIsForgotten) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  Lose("a", cluster);
  cluster.now += 6 * kDayMs;
  EXPECT_THAT(Kinds(NodesToForget(cluster.state, cluster.options, cluster.now)),
              Not(Contains("NodeRemoved")));
  cluster.now += kDayMs;
  const auto events = cluster.Settle();
  EXPECT_THAT(Kinds(events), Contains("NodeRemoved"));
  EXPECT_TRUE(cluster.state.nodes.empty());
}

TEST(NodeRemovalTest, ACordonedNodeIsNotForgotten) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  cluster.state.nodes.at("a").node.set_cordoned(true);
  Lose("a", cluster);
  cluster.now += 30 * kDayMs;
  EXPECT_THAT(NodesToForget(cluster.state, cluster.options, cluster.now), IsEmpty());
}

TEST(NodeRemovalTest, TheEventNamesTheNodeAndTheReason) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  v1::Hello hello = cluster.HelloOf("a");
  hello.set_node_name("alpha");
  cluster.Do(AttachWorker{hello});
  Lose("a", cluster);
  const auto removed = Decide(cluster.state, Removal("a"), cluster.options, cluster.now);
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_EQ(removed->at(0).time_ms(), cluster.now);
  EXPECT_EQ(removed->at(0).node_removed().node_id(), "a");
  EXPECT_EQ(removed->at(0).node_removed().name(), "alpha");
  EXPECT_EQ(removed->at(0).node_removed().reason(), "");

  const Timestamp due = cluster.state.nodes.at("a").node.last_heartbeat_ms() + 7 * kDayMs;
  EXPECT_THAT(NodesToForget(cluster.state, cluster.options, due - 1), IsEmpty());
  const std::vector<v1::Event> forgotten = NodesToForget(cluster.state, cluster.options, due);
  ASSERT_EQ(forgotten.size(), 1u);
  EXPECT_EQ(forgotten[0].time_ms(), due);
  EXPECT_EQ(forgotten[0].actor(), "controller");
  EXPECT_EQ(forgotten[0].node_removed().node_id(), "a");
  EXPECT_EQ(forgotten[0].node_removed().name(), "alpha");
  EXPECT_EQ(forgotten[0].node_removed().reason(), "no heartbeat for 168 h");
}

}  // namespace
}  // namespace trainyard::controller

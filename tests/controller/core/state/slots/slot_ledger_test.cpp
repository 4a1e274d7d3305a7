#include "controller/core/state/slots/slot_ledger.h"

#include "controller/core/event_log/snapshot.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

TEST(SlotLedgerTest, RebuiltIndexesHaveNothingOfJobsThatAreGone) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  cluster.RunJob(cluster.Submit("live", 1, 1));
  const int64_t failed = cluster.Submit("failed", 1, 1);
  cluster.RunJob(failed);
  cluster.ExitAll(failed, 1);
  cluster.ClearAll(failed);
  cluster.Submit(AutoSpec("auto", 1, 2));
  ASSERT_EQ(cluster.state.reservations.size(), 1u);
  ASSERT_EQ(cluster.state.pending_auto_jobs.size(), 1u);
  ASSERT_EQ(cluster.state.rendezvous_in_use.size(), 1u);
  cluster.state.jobs.clear();
  RebuildIndexes(cluster.state);
  EXPECT_EQ(DifferentIndexes(cluster.state, FromSnapshot(ToSnapshot(cluster.state, 1))), "");
  EXPECT_TRUE(cluster.state.pending_jobs.empty());
}

TEST(SlotLedgerTest, RebuildingDropsStaleEntriesOfEachIndex) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  ClusterState state = cluster.state;
  state.pending_jobs.Insert({9});
  state.reservations[9] = {};
  for (auto* jobs : {&state.pending_auto_jobs, &state.paused_jobs, &state.live_jobs}) {
    jobs->insert(9);
  }
  for (auto* nodes : {&state.lost_nodes, &state.unhealthy_nodes, &state.blamed_nodes}) {
    nodes->insert("gone");
  }
  state.present_slots = 7;
  state.ended_jobs.insert({1, 9});
  state.jobs_by_name["gone"].insert(9);
  state.job_by_request_id["gone"] = 9;
  state.job_by_checkpoint_dir["/gone"] = 9;
  state.free_nodes[v1::DEVICE_KIND_CPU][7].insert("gone");
  state.rendezvous_in_use.insert({"gone", 1});
  state.run_ends[9] = {.attempt = 1};
  state.slot_rows.push_back({.node_id = "gone"});
  state.nodes.at("a").live_jobs.insert(9);
  state.nodes.at("a").uncleared.insert({9, 1});
  RebuildIndexes(state);
  EXPECT_EQ(DifferentIndexes(state, cluster.state), "");
}

TEST(SlotLedgerTest, TheNumberOfUsagesHasALimit) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  for (std::size_t i = 0; i < kMaxUsages; ++i) {
    cluster.state.usages[{v1::DEVICE_KIND_CPU, "default", "user-" + std::to_string(i)}] = {
        .slot_ms = 1, .at = cluster.now, .held = 0};
  }
  cluster.RunJob(cluster.Submit("job", 1, 1));
  EXPECT_EQ(cluster.state.usages.size(), kMaxUsages * 9 / 10);
  EXPECT_TRUE(cluster.state.usages.contains({v1::DEVICE_KIND_CPU, "default", "ada"}));
}

TEST(SlotLedgerTest, SlotsOfASnapshotWithoutUsagesCountFromNowOn) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  cluster.RunJob(cluster.Submit("job", 1, 2));
  const Timestamp newest = cluster.state.clock.newest_ms();
  cluster.state.usages.clear();
  RebuildIndexes(cluster.state);
  const Usage& usage = cluster.state.usages.at({v1::DEVICE_KIND_CPU, "default", ""});
  EXPECT_EQ(usage.held, 2);
  EXPECT_EQ(UsageAt(usage, newest), 0);
  EXPECT_GT(UsageAt(usage, newest + 1000), 0);
}

TEST(SlotLedgerTest, SlotsOfASnapshotWithoutAClockCountFromThePlacement) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  const int64_t job = cluster.Submit("job", 1, 2);
  cluster.RunJob(job);
  const Timestamp placed = cluster.Attempt(job).placed_time_ms();
  cluster.state.usages.clear();
  cluster.state.clock.Clear();
  RebuildIndexes(cluster.state);
  const Usage& usage = cluster.state.usages.at({v1::DEVICE_KIND_CPU, "default", "ada"});
  EXPECT_EQ(UsageAt(usage, placed), 0);
  EXPECT_LE(UsageAt(usage, placed + 1000), 2 * 1000) << "two slots for a second";
  EXPECT_GT(UsageAt(usage, placed + 1000), 0);
}

TEST(SlotLedgerTest, ANodeWithoutEvidenceIsNotBlamed) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  EditNode(
      "a", [](NodeEntry& entry) { entry.node.add_evidence(); }, cluster.state);
  EXPECT_TRUE(cluster.state.blamed_nodes.contains("a"));
  EditNode(
      "a", [](NodeEntry& entry) { entry.node.clear_evidence(); }, cluster.state);
  EXPECT_FALSE(cluster.state.blamed_nodes.contains("a"));
}

TEST(SlotLedgerTest, ARejoinedNodeKeepsItsReleaseAndTheUseOfEachSlotOnce) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  cluster.RunJob(cluster.Submit("job", 1, 1));
  v1::Node& node = cluster.state.nodes.at("a").node;
  node.set_released_time_ms(77);
  v1::Node joined = node;
  joined.clear_released_time_ms();
  ReplaceNode(joined, cluster.state);
  EXPECT_EQ(node.released_time_ms(), 77);
  ASSERT_EQ(node.slot_uses_size(), 2);
  EXPECT_EQ(node.slot_uses(0).job_id(), 1);
  EXPECT_EQ(node.slot_uses(1).job_id(), 0);
}

}  // namespace
}  // namespace trainyard::controller

#include "controller/core/state/slot_ledger.h"

#include "controller/core/state/snapshot.h"
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
  ASSERT_EQ(cluster.state.recovering_jobs.size(), 1u);
  ASSERT_EQ(cluster.state.pending_auto_jobs.size(), 1u);
  ASSERT_EQ(cluster.state.rendezvous_in_use.size(), 1u);
  cluster.state.jobs.clear();
  RebuildIndexes(cluster.state);
  EXPECT_EQ(DifferentIndexes(cluster.state, FromSnapshot(ToSnapshot(cluster.state, 1))), "");
  EXPECT_TRUE(cluster.state.pending_jobs.empty());
}

}  // namespace
}  // namespace trainyard::controller

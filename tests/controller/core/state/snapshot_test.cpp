#include "controller/core/state/snapshot.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

ClusterState Restarted(const ClusterState& state) { return FromSnapshot(ToSnapshot(state, 1)); }

TEST(SnapshotTest, HoldsTheLayoutsThatWereChosen) {
  ClusterState state;
  JobEntry& entry = state.jobs[1];
  entry.job.set_id(1);
  for (const int nodes : {2, 1}) entry.layouts.emplace_back().set_asked_nodes(nodes);
  const std::vector<v1::GrantedLayout> kept = Restarted(state).jobs.at(1).layouts;
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].asked_nodes(), 2);
  EXPECT_EQ(kept[1].asked_nodes(), 1);
}

TEST(SnapshotTest, HoldsTheRequestsOfArchivedJobsWithTheirTimes) {
  ClusterState state;
  state.archived_requests.push_back({"request", 7, 12'345});
  const ClusterState copy = Restarted(state);
  ASSERT_EQ(copy.archived_requests.size(), 1u);
  EXPECT_EQ(copy.archived_requests[0].request_id, "request");
  EXPECT_EQ(copy.archived_requests[0].job_id, 7);
  EXPECT_EQ(copy.archived_requests[0].archived_ms, 12'345);
  EXPECT_EQ(copy.job_by_request_id.at("request"), 7);
}

TEST(SnapshotTest, HoldsThePlaceOfANode) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.state.nodes.at("a").place = "rack 3";
  EXPECT_EQ(Restarted(cluster.state).nodes.at("a").place, "rack 3");
}

// Jobs 2, 3 and 5 may have been lost before the restore. Job 7 was deleted after it.
TEST(SnapshotTest, OfAnOlderReleaseShowsLostJobsByTheGapsBeforeTheRestore) {
  v1::Snapshot snapshot;
  snapshot.set_next_job_id(9);
  snapshot.set_restored_jobs_below(7);
  for (const int64_t id : {1, 4, 6, 8}) snapshot.add_jobs()->set_id(id);
  EXPECT_THAT(FromSnapshot(snapshot).lost_jobs, ElementsAre(Pair(2, 4), Pair(5, 6)));
}

}  // namespace
}  // namespace trainyard::controller

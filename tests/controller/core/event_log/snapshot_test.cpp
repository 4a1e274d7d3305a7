#include "controller/core/event_log/snapshot.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
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

// Jobs 2, 3 and 5 are missing and may have been lost before the restore. Job 7 was deleted after
// the restore.
TEST(SnapshotTest, OfAnOlderReleaseShowsLostJobsByTheGapsBeforeTheRestore) {
  v1::Snapshot snapshot;
  snapshot.set_next_job_id(9);
  snapshot.set_restored_jobs_below(7);
  for (const int64_t id : {1, 4, 6, 8}) snapshot.add_jobs()->set_id(id);
  EXPECT_THAT(FromSnapshot(snapshot).lost_jobs, ElementsAre(Pair(2, 4), Pair(5, 6)));
}

// The first job can be lost, too. If every job is present, none counts as lost.
TEST(SnapshotTest, OfAnOlderReleaseShowsLostJobsAtBothEnds) {
  v1::Snapshot snapshot;
  snapshot.set_restored_jobs_below(7);
  snapshot.add_jobs()->set_id(4);
  EXPECT_THAT(FromSnapshot(snapshot).lost_jobs, ElementsAre(Pair(1, 4), Pair(5, 7)));
  snapshot.clear_jobs();
  for (const int64_t id : {1, 2, 3, 4, 5, 6}) snapshot.add_jobs()->set_id(id);
  EXPECT_THAT(FromSnapshot(snapshot).lost_jobs, IsEmpty());
}

TEST(SnapshotTest, HoldsTheNumbersOfLostJobs) {
  ClusterState state;
  state.newest_job_id = 9;
  state.lost_jobs = {{2, 4}, {5, 6}};
  EXPECT_EQ(Restarted(state).lost_jobs, state.lost_jobs);
}

TEST(SnapshotTest, HoldsTheIdentityOfNodesAndOfRemovedNodes) {
  ClusterState state;
  NodeEntry& node = state.nodes["a"];
  node.node.set_id("a");
  node.binding = {.key = "aa", .secret_hash = "bb"};
  state.removed_nodes["b"] = {
      .fact_sequence = 5, .binding = {.key = "cc", .secret_hash = "dd"}, .removed_ms = 77};
  const ClusterState copy = Restarted(state);
  EXPECT_EQ(copy.nodes.at("a").binding.key, "aa");
  EXPECT_EQ(copy.nodes.at("a").binding.secret_hash, "bb");
  const RemovedNode& removed = copy.removed_nodes.at("b");
  EXPECT_EQ(removed.fact_sequence, 5u);
  EXPECT_EQ(removed.binding.key, "cc");
  EXPECT_EQ(removed.binding.secret_hash, "dd");
  EXPECT_EQ(removed.removed_ms, 77);
}

TEST(SnapshotTest, HoldsTheStepsAndRanksThatWereReported) {
  ClusterState state;
  JobEntry& entry = state.jobs[1];
  entry.job.set_id(1);
  entry.guarded = {3, 70};
  entry.watched = {2, 50};
  entry.slow_ranks = {1, 4};
  const ClusterState copy = Restarted(state);
  EXPECT_THAT(copy.jobs.at(1).guarded, Pair(3, 70));
  EXPECT_THAT(copy.jobs.at(1).watched, Pair(2, 50));
  EXPECT_THAT(copy.jobs.at(1).slow_ranks, ElementsAre(1, 4));
}

TEST(SnapshotTest, OfAnOlderReleaseShowsByTheVerdictWhyAnAttemptStops) {
  v1::Snapshot snapshot;
  for (const int64_t id : {1, 2, 3}) {
    v1::Job& job = *snapshot.add_jobs();
    job.set_id(id);
    job.set_state(v1::JOB_STATE_STOPPING);
    job.add_attempts()->set_number(1);
    job.mutable_attempts(0)->set_state(v1::ATTEMPT_STATE_STOPPING);
    snapshot.add_job_details()->set_job_id(id);
  }
  snapshot.mutable_jobs(0)->mutable_attempts(0)->mutable_verdict()->set_signal(9);
  snapshot.mutable_jobs(2)->mutable_attempts(0)->set_stop_reason(v1::STOP_REASON_PAUSED);
  const ClusterState state = FromSnapshot(snapshot);
  const auto reason = [&](int64_t id) { return state.jobs.at(id).job.attempts(0).stop_reason(); };
  EXPECT_EQ(reason(1), v1::STOP_REASON_FAILED);
  EXPECT_EQ(reason(2), v1::STOP_REASON_USER) << "without a verdict";
  EXPECT_EQ(reason(3), v1::STOP_REASON_PAUSED) << "as the snapshot names it";
}

TEST(SnapshotTest, HasACapacityHistoryOnceCountingHasBegun) {
  ClusterState state;
  EXPECT_FALSE(ToSnapshot(state, 1).has_capacity());
  state.capacity.set_since_ms(1);
  EXPECT_TRUE(ToSnapshot(state, 1).has_capacity());
}

}  // namespace
}  // namespace trainyard::controller

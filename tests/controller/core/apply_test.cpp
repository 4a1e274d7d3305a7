#include "controller/core/apply.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

// Ends a job, fails another, leaves one running, one pending and a lost node behind.
void FillWithHistory(TestCluster& cluster) {
  for (const char* id : {"a", "b", "c"}) cluster.AddNode(id, 2);
  v1::JobSpec spec = TestSpec("done", 1, 1);
  (*spec.mutable_env())["ONE"] = "1";
  (*spec.mutable_env())["TWO"] = "2";
  const int64_t done = cluster.Submit(spec, "request");
  cluster.RunJob(done);
  cluster.Publish(done, 10);
  cluster.Publish(done, 20);
  cluster.ExitAll(done, 75);
  cluster.ClearAll(done);
  cluster.Pass(1000);
  cluster.RunJob(done);
  cluster.ExitAll(done, 74);
  cluster.ClearAll(done);
  cluster.Pass(1000);
  cluster.RunJob(done);
  ASSERT_TRUE(cluster.Job(done).checkpoints(1).damaged());
  cluster.ExitAll(done, 0);
  cluster.ClearAll(done);
  const int64_t gang = cluster.Submit("gang", 3, 1);
  cluster.RunJob(gang);
  const int64_t live = cluster.Submit("live", 1, 1);
  cluster.RunJob(live);
  cluster.StopHeartbeats("c");
  cluster.ExitRank(gang, 1, 70);
  cluster.Settle();
  cluster.ClearNode(gang, "a");
  cluster.ClearNode(gang, "b");
  cluster.Pass(12000);
  cluster.ExitRank(live, 0, 69);
  cluster.Submit("waits", 1, 2);
  ASSERT_EQ(cluster.NodeStateOf("c"), v1::NODE_STATE_LOST);
  ASSERT_EQ(cluster.state.nodes.at("c").uncleared.size(), 1u);
  ASSERT_EQ(cluster.state.recovering_jobs.size(), 1u);
}

TEST(ApplyTest, SnapshotHoldsTheWholeState) {
  TestCluster cluster;
  FillWithHistory(cluster);
  const ClusterState copy = FromSnapshot(ToSnapshot(cluster.state, 42));
  EXPECT_EQ(Bytes(copy), Bytes(cluster.state));
  EXPECT_EQ(DifferentIndexes(copy, cluster.state), "");
  EXPECT_EQ(ToSnapshot(cluster.state, 42).last_sequence(), 42u);
}

TEST(ApplyTest, SnapshotKeepsASlotOfAnOlderAttemptUncleared) {
  TestCluster cluster;
  for (const char* id : {"a", "b", "c"}) cluster.AddNode(id, 1);
  const int64_t job = cluster.Submit("job", 2, 1);
  cluster.RunJob(job);
  cluster.StopHeartbeats("b");
  cluster.ExitRank(job, 0, 1);
  cluster.Settle();
  cluster.ClearNode(job, "a");
  cluster.Pass(12000);
  ASSERT_EQ(cluster.Placement(job), "a:0 c:0");
  ASSERT_TRUE(cluster.state.nodes.at("b").uncleared.contains({job, 1}));
  const ClusterState copy = FromSnapshot(ToSnapshot(cluster.state, 42));
  EXPECT_EQ(DifferentIndexes(copy, cluster.state), "");
}

TEST(ApplyTest, AfterARestoreNoNumberIsGivenOutTwice) {
  TestCluster cluster;
  cluster.AddNode("a", 4);
  const int64_t known = cluster.Submit("known", 1, 1);
  cluster.RunJob(known);
  const int64_t waiting = cluster.Submit("waiting", 1, 4);
  v1::Event restored;
  restored.mutable_store_restored()->set_skipped_job_ids(100);
  restored.mutable_store_restored()->set_skipped_attempts(50);
  Apply(restored, cluster.state);
  cluster.state = FromSnapshot(ToSnapshot(cluster.state, 1));
  cluster.ExitAll(known, 70);
  cluster.ClearAll(known);
  cluster.Pass(2000);
  EXPECT_EQ(cluster.Attempt(known).number(), 51);
  cluster.RunJob(known);
  cluster.ExitAll(known, 0);
  cluster.ClearAll(known);
  cluster.Settle();
  EXPECT_EQ(cluster.Attempt(waiting).number(), 51) << "it may have run after the backup";
  cluster.Stop(waiting, true);
  cluster.Settle();
  cluster.ClearAll(waiting);
  const int64_t fresh = cluster.Submit("fresh", 1, 1);
  EXPECT_EQ(fresh, waiting + 101);
  cluster.Settle();
  EXPECT_EQ(cluster.Attempt(fresh).number(), 1);
}

TEST(ApplyTest, StateBuiltFromASnapshotGoesOnInTheSameWay) {
  TestCluster live;
  FillWithHistory(live);
  TestCluster restored = live;
  restored.state = FromSnapshot(ToSnapshot(live.state, 0));
  for (TestCluster* cluster : {&live, &restored}) {
    cluster->Wake("c");
    cluster->Pass(5000);
    cluster->ClearNode(2, "c");
    cluster->Pass(5000);
  }
  EXPECT_EQ(live.Attempt(2).number(), 2);
  EXPECT_EQ(Bytes(live.state), Bytes(restored.state));
}

TEST(ApplyTest, RewrittenCheckpointDirectoryIsOneCheckpoint) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.Publish(job, 10);
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  cluster.Pass(2000);
  cluster.Publish(job, 10);
  ASSERT_EQ(cluster.Job(job).checkpoints_size(), 1);
  EXPECT_EQ(cluster.Job(job).checkpoints(0).attempt(), 2);
}

TEST(ApplyTest, ListsTheNewestThousandCheckpoints) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  for (int step = 1; step <= 1001; ++step) cluster.Publish(job, step);
  ASSERT_EQ(cluster.Job(job).checkpoints_size(), 1000);
  EXPECT_EQ(cluster.Job(job).checkpoints(0).step(), 2);
  EXPECT_EQ(cluster.Job(job).checkpoints(999).step(), 1001);
}

TEST(ApplyDeathTest, EventThatBreaksTheStateMachineEndsTheProcess) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  v1::Event event;
  event.mutable_job_ended()->set_job_id(job);
  event.mutable_job_ended()->set_state(v1::JOB_STATE_SUCCEEDED);
  EXPECT_DEATH(Apply(event, cluster.state), "job 1 cannot go from JOB_STATE_QUEUED to");
  event.mutable_job_ended()->set_job_id(99);
  EXPECT_DEATH(Apply(event, cluster.state), "no job 99");
  EXPECT_DEATH(Apply(v1::Event(), cluster.state), "of a kind");
}

TEST(ApplyDeathTest, TakenSlotEndsTheProcess) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t first = cluster.Submit("first", 1, 1);
  const int64_t second = cluster.Submit("second", 1, 1);
  cluster.RunJob(first);
  v1::Event event;
  event.mutable_job_placed()->set_job_id(second);
  event.mutable_job_placed()->set_attempt(1);
  event.mutable_job_placed()->add_ranks()->set_node_id("a");
  EXPECT_DEATH(Apply(event, cluster.state), "was placed on a taken slot of a");
}

}  // namespace
}  // namespace trainyard::controller

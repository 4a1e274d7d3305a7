#include "controller/core/apply/apply.h"

#include "controller/core/event_log/snapshot.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

// Creates history: one ended, one failed, one running and one pending job, and a lost node.
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
  ASSERT_EQ(cluster.state.reservations.size(), 1u);
}

TEST(ApplyTest, SnapshotHoldsTheWholeState) {
  TestCluster cluster;
  FillWithHistory(cluster);
  const ClusterState copy = FromSnapshot(ToSnapshot(cluster.state, 42));
  EXPECT_EQ(Bytes(copy), Bytes(cluster.state));
  EXPECT_EQ(DifferentIndexes(copy, cluster.state), "");
  EXPECT_EQ(ToSnapshot(cluster.state, 42).last_sequence(), 42u);
}

TEST(ApplyTest, TakingTheSpecOfASubmissionGivesTheSameState) {
  v1::SubmitJobRequest request;
  *request.mutable_spec() = TestSpec("job", 1, 1);
  TestCluster cluster;
  cluster.AddNode("a", 1);
  auto events = Decide(cluster.state, Checked(request), cluster.options, cluster.now);
  ASSERT_TRUE(events.ok() && events->size() == 1) << events.status();
  v1::Event& submitted = events->front();
  ClusterState copied = cluster.state;
  Apply(submitted, copied);
  EXPECT_EQ(copied.jobs.at(1).job.spec().name(), "job");
  ClusterState moved = cluster.state;
  ApplyTakingSpec(submitted, moved);
  EXPECT_EQ(Bytes(moved), Bytes(copied));
  EXPECT_EQ(DifferentIndexes(moved, copied), "");
  EXPECT_FALSE(submitted.job_submitted().has_spec());
  EXPECT_EQ(submitted.job_submitted().job_id(), 1);
}

TEST(ApplyTest, TakingTheSpecOfASubmissionAdvancesTheClock) {
  ClusterState state;
  v1::Event event;
  event.set_time_ms(1234);
  event.mutable_job_submitted()->set_job_id(1);
  *event.mutable_job_submitted()->mutable_spec() = TestSpec("job", 1, 1);
  ApplyTakingSpec(event, state);
  EXPECT_EQ(state.clock.newest_ms(), 1234);
}

TEST(ApplyTest, AJoinedNodeIsReady) {
  ClusterState state;
  v1::Event event;
  event.mutable_node_joined()->mutable_node()->set_id("a");
  Apply(event, state);
  EXPECT_EQ(state.nodes.at("a").node.state(), v1::NODE_STATE_READY);
}

// The cluster has one slot for 1 s, then two slots for 2 s.
TEST(ApplyTest, SlotTimeIsCountedUntilTheNumberOfSlotsChanges) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.now += 1000;
  cluster.AddNode("b", 1);
  cluster.now += 2000;
  cluster.AddNode("c", 2);
  ASSERT_EQ(cluster.state.capacity.slot_ms_size(), 1);
  EXPECT_EQ(cluster.state.capacity.slot_ms(0), 5000);
}

// Compares the fields one by one. Comparing Bytes() would not detect a field that snapshots omit,
// because both sides would lack the field.
TEST(ApplyTest, SnapshotHoldsEachFieldOfAJob) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.AddNode("b", 2);
  const int64_t job = cluster.Submit(TestSpec("job", 2, 1), "request");
  cluster.RunJob(job);
  cluster.ExitRank(job, 0, 1);
  cluster.Settle();
  cluster.ClearAll(job);
  cluster.Pass(1000);
  cluster.RunJob(job);
  cluster.ExitRank(job, 1, 69);
  cluster.Stop(job, true);
  cluster.ClearNode(job, "b");
  const JobEntry& entry = cluster.state.jobs.at(job);
  const ClusterState copy = FromSnapshot(ToSnapshot(cluster.state, 42));
  const JobEntry& kept = copy.jobs.at(job);
  EXPECT_EQ(kept.request_id, "request");
  EXPECT_TRUE(kept.stop_requested);
  EXPECT_TRUE(kept.kill_requested);
  EXPECT_EQ(kept.restart_times_ms.size(), 1u);
  EXPECT_EQ(kept.restart_times_ms, entry.restart_times_ms);
  EXPECT_EQ(kept.restarts_without_progress, 1);
  EXPECT_EQ(kept.started_ranks, (std::set<int>{0, 1}));
  ASSERT_EQ(kept.exited_ranks.size(), 1u);
  EXPECT_EQ(kept.exited_ranks.at(1).exit_code(), 69);
  EXPECT_EQ(kept.cleared_nodes, (std::set<std::string>{"b"}));
  EXPECT_EQ(kept.first_failure_ms, cluster.now);
  EXPECT_EQ(copy.nodes.at("b").fact_sequence, cluster.state.nodes.at("b").fact_sequence);
  EXPECT_EQ(copy.next_job_id, job + 1);
}

TEST(ApplyTest, DurationsAreMilliseconds) {
  google::protobuf::Duration duration;
  duration.set_seconds(2);
  duration.set_nanos(345'000'000);
  EXPECT_EQ(ToMs(duration), 2345);
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
  // A node that reconnects without the slot can no longer have the attempt's processes, so the node
  // need not confirm that the processes are gone.
  v1::Hello other = cluster.HelloOf("b");
  other.mutable_inventory()->mutable_slots(0)->set_index(7);
  cluster.Do(AttachWorker{other});
  EXPECT_TRUE(cluster.state.nodes.at("b").uncleared.empty());
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

TEST(ApplyTest, AJobAndItsAttemptsKeepTheirTimes) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const Timestamp begin = cluster.now;
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.Pass(100);
  cluster.Pass(100);
  cluster.StartAll(job);
  cluster.Pass(100);
  cluster.ExitAll(job, 1);
  cluster.Pass(100);
  cluster.ClearAll(job);
  const v1::Attempt first = cluster.Attempt(job);
  EXPECT_EQ(cluster.Job(job).user(), "ada");
  EXPECT_EQ(cluster.Job(job).submitted_time_ms(), begin);
  EXPECT_EQ(first.placed_time_ms(), begin + 100);
  EXPECT_EQ(first.started_time_ms(), begin + 200);
  EXPECT_EQ(first.stopping_time_ms(), begin + 300);
  EXPECT_EQ(first.ended_time_ms(), begin + 400);
  EXPECT_EQ(cluster.Job(job).not_before_ms(), begin + 1400);
  cluster.Pass(1000);
  EXPECT_EQ(cluster.Attempt(job).number(), 2);
  EXPECT_EQ(cluster.Job(job).not_before_ms(), 0);
  cluster.Stop(job);
  cluster.Pass(100);
  cluster.ClearAll(job);
  EXPECT_EQ(cluster.Job(job).ended_time_ms(), begin + 1500);
}

TEST(ApplyTest, AJobThatEndsInItsBackoffWaitsForNothing) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  EXPECT_GT(cluster.Job(job).not_before_ms(), cluster.now);
  cluster.Stop(job);
  ASSERT_EQ(cluster.StateOf(job), v1::JOB_STATE_STOPPED);
  EXPECT_EQ(cluster.Job(job).not_before_ms(), 0);
}

TEST(ApplyTest, OnlyTheNewestAttemptsKeepTheirRanks) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t id = cluster.Submit("job", 1, 1);
  v1::Job& job = cluster.state.jobs.at(id).job;
  for (int number = 1; number <= kAttemptsKeptWithRanks; ++number) {
    v1::Attempt& attempt = *job.add_attempts();
    attempt.set_number(number);
    attempt.set_state(v1::ATTEMPT_STATE_ENDED);
    attempt.add_ranks()->set_node_id("a");
  }
  v1::Event event;
  event.mutable_job_placed()->set_job_id(id);
  event.mutable_job_placed()->set_attempt(kAttemptsKeptWithRanks + 1);
  event.mutable_job_placed()->add_ranks()->set_node_id("a");
  Apply(event, cluster.state);
  ASSERT_EQ(job.attempts_size(), kAttemptsKeptWithRanks + 1);
  EXPECT_EQ(job.attempts(0).ranks_size(), 0);
  for (int i = 1; i < job.attempts_size(); ++i) EXPECT_EQ(job.attempts(i).ranks_size(), 1) << i;
}

// The state of an older release has no capacity history.
TEST(ApplyTest, ACapacityHistoryBeginsWithTheNextEventOfANode) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.state.capacity.Clear();
  v1::Event event;
  event.set_time_ms(cluster.now + 5);
  event.mutable_node_cordoned()->set_node_id("a");
  Apply(event, cluster.state);
  EXPECT_EQ(cluster.state.capacity.since_ms(), cluster.now + 5);
}

TEST(ApplyTest, TheFirstExitOfARankCountsAndNoneAfterTheEndOfTheAttempt) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  const int64_t job = cluster.Submit("job", 1, 2);
  cluster.RunJob(job);
  cluster.ExitRank(job, 0, 1);
  cluster.ExitRank(job, 0, 2);
  const JobEntry& entry = cluster.state.jobs.at(job);
  EXPECT_EQ(entry.exited_ranks.at(0).exit_code(), 1);
  cluster.Settle();
  cluster.ClearAll(job);
  ASSERT_EQ(cluster.Attempt(job).state(), v1::ATTEMPT_STATE_ENDED);
  cluster.ExitRank(job, 1, 1);
  EXPECT_FALSE(entry.exited_ranks.contains(1));
}

TEST(ApplyTest, EachAttemptWaitsAnewForTheCulpritBehindALostPeer) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  const int64_t job = cluster.Submit("job", 1, 2);
  cluster.RunJob(job);
  cluster.ExitRank(job, 0, 1);
  cluster.Settle();
  cluster.ClearAll(job);
  cluster.Pass(1000);
  cluster.RunJob(job);
  cluster.ExitRank(job, 0, 69);
  cluster.Pass(1500);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_RUNNING);
  cluster.Pass(500);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_RECOVERING);
}

TEST(ApplyTest, ARestartThatIsAWholeWindowOldCountsNoMore) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  v1::JobSpec spec = TestSpec("job", 1, 1);
  spec.mutable_restart()->mutable_window()->set_seconds(60);
  const int64_t job = cluster.Submit(spec);
  for (const int64_t wait_ms : {0, 59'999, 60'000}) {
    cluster.Pass(wait_ms);
    cluster.RunJob(job);
    cluster.ExitAll(job, 137);
    cluster.ClearAll(job);
  }
  EXPECT_EQ(cluster.Job(job).restarts(), 1);
}

TEST(ApplyTest, ACheckpointOfAnEarlierStepDoesNotTakeTheLastStepBack) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.Publish(job, 100);
  cluster.Publish(job, 50);
  EXPECT_EQ(cluster.Attempt(job).last_step(), 100);
}

TEST(ApplyTest, ANodeKeepsTheTimeOfItsFirstJoiningAndOfItsLastHeartbeat) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const Timestamp joined = cluster.now;
  const v1::Node& node = cluster.state.nodes.at("a").node;
  EXPECT_EQ(node.joined_time_ms(), joined);
  EXPECT_EQ(node.last_heartbeat_ms(), joined);
  cluster.Pass(500);
  cluster.StopHeartbeats("a");
  cluster.Pass(9000);
  EXPECT_EQ(node.state(), v1::NODE_STATE_LOST);
  EXPECT_EQ(node.last_heartbeat_ms(), joined + 500);
  cluster.Wake("a");
  cluster.Pass(500);
  EXPECT_EQ(node.state(), v1::NODE_STATE_READY);
  EXPECT_EQ(node.state_reason(), "");
  EXPECT_EQ(node.last_heartbeat_ms(), joined + 10'000);
  v1::Hello hello = cluster.HelloOf("a");
  hello.set_incarnation("2");
  cluster.now += 700;
  cluster.Do(AttachWorker{hello});
  EXPECT_EQ(node.joined_time_ms(), joined);
  EXPECT_EQ(node.last_heartbeat_ms(), joined + 10'700);
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

TEST(ApplyDeathTest, EventOfAnotherAttemptThanTheLiveOneEndsTheProcess) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  const int64_t job = cluster.Submit("job", 1, 1);
  v1::Event stop;
  stop.mutable_job_stop_requested()->set_job_id(job);
  EXPECT_DEATH(Apply(stop, cluster.state), "job 1 has nothing to stop");
  cluster.RunJob(job);
  v1::Event running;
  running.mutable_attempt_running()->set_job_id(job);
  running.mutable_attempt_running()->set_attempt(9);
  EXPECT_DEATH(Apply(running, cluster.state), "job 1 has no live attempt 9");
  v1::Event placed;
  placed.mutable_job_placed()->set_job_id(job);
  placed.mutable_job_placed()->set_attempt(2);
  EXPECT_DEATH(Apply(placed, cluster.state), "job 1 has a live attempt or a newer attempt");
  v1::Event ended;
  ended.mutable_job_ended()->set_job_id(job);
  ended.mutable_job_ended()->set_state(v1::JOB_STATE_FAILED);
  EXPECT_DEATH(Apply(ended, cluster.state), "job 1 still has a live attempt");
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  placed.mutable_job_placed()->set_attempt(1);
  EXPECT_DEATH(Apply(placed, cluster.state), "job 1 has a live attempt or a newer attempt");
}

TEST(ApplyDeathTest, EventOfAnOldJobNumberOrAnUnknownNodeEndsTheProcess) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  v1::Event submitted;
  submitted.mutable_job_submitted()->set_job_id(cluster.Submit("job", 1, 1));
  EXPECT_DEATH(Apply(submitted, cluster.state), "job ids must increase");
  v1::Event received;
  received.mutable_facts_received()->set_node_id("x");
  EXPECT_DEATH(Apply(received, cluster.state), "no node x");
  v1::Event cordoned;
  cordoned.mutable_node_cordoned()->set_node_id("x");
  EXPECT_DEATH(Apply(cordoned, cluster.state), "no node x");
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

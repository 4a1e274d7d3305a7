#include "controller/core/commands.h"

#include "controller/core/observations/observe.h"
#include "controller/core/state/apply.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CommandsTest, StartIsDueUntilTheWorkerReportsTheAttempt) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  cluster.AddNode("b", 2);
  const int64_t job = cluster.Submit("job", 2, 2);
  cluster.Settle();
  EXPECT_THAT(cluster.Commands(), ElementsAre("start a 1/1", "start b 1/1"));
  cluster.Report("a", job);
  cluster.Pass(500);
  EXPECT_THAT(cluster.Commands(), ElementsAre("start b 1/1"));
  // Its fact can be faster than its heartbeat.
  cluster.StartRank(job, 2);
  EXPECT_THAT(cluster.Commands(), IsEmpty());
}

TEST(CommandsTest, StartTellsEachNodeItsRanks) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  cluster.AddNode("b", 2);
  v1::JobSpec spec = TestSpec("job", 2, 2);
  spec.mutable_checkpoint()->set_dir("/data/job");
  const int64_t job = cluster.Submit(spec);
  cluster.Settle();
  const std::vector<Command> commands =
      CommandsDue(cluster.state, cluster.observations, cluster.now);
  ASSERT_EQ(commands.size(), 2u);
  const v1::StartAttempt& start = commands[1].message.start_attempt();
  EXPECT_EQ(start.job_id(), job);
  EXPECT_EQ(start.job_name(), "job");
  EXPECT_EQ(start.attempt(), 1);
  EXPECT_EQ(start.spec().name(), "job");
  EXPECT_EQ(start.world_size(), 4);
  EXPECT_EQ(start.node_rank(), 1);
  EXPECT_EQ(start.node_count(), 2);
  EXPECT_EQ(start.checkpoint_dir(), "/data/job");
  EXPECT_EQ(start.master_address(), "10.0.0.1");
  EXPECT_EQ(start.master_port(), cluster.Attempt(job).master_port());
  ASSERT_EQ(start.ranks_size(), 2);
  EXPECT_EQ(start.ranks(1).rank(), 3);
  EXPECT_EQ(start.ranks(1).local_rank(), 1);
  EXPECT_EQ(start.ranks(1).slot(), 1);
}

TEST(CommandsTest, NothingIsSentToDetachedWorkers) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.Submit("job", 1, 1);
  cluster.Settle();
  ObserveDetached("a", cluster.observations);
  EXPECT_THAT(cluster.Commands(), IsEmpty());
}

TEST(CommandsTest, FailedGangIsAskedToStopShortly) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.AddNode("b", 1);
  const int64_t job = cluster.Submit("job", 2, 1);
  cluster.RunJob(job);
  EXPECT_THAT(cluster.Commands(), IsEmpty());
  cluster.ExitRank(job, 0, 1);
  cluster.Settle();
  EXPECT_THAT(cluster.Commands(), ElementsAre("stop a 1/1 3000", "stop b 1/1 3000"));
  cluster.ClearNode(job, "a");
  EXPECT_THAT(cluster.Commands(), ElementsAre("stop b 1/1 3000"));
}

TEST(CommandsTest, StoppedGangKeepsItsWholeGraceWhileRanksLeaveOneByOne) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  const int64_t job = cluster.Submit("job", 1, 2);
  cluster.RunJob(job);
  cluster.Stop(job);
  cluster.ExitRank(job, 1, 143);
  cluster.Settle();
  EXPECT_THAT(cluster.Commands(), ElementsAre("stop a 1/1 60000"));
}

TEST(CommandsTest, StartNamesTheCheckpointToResumeFrom) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.Publish(job, 10);
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  cluster.Pass(1000);
  const auto commands = CommandsDue(cluster.state, cluster.observations, cluster.now);
  ASSERT_EQ(commands.size(), 1u);
  const v1::StartAttempt& start = commands[0].message.start_attempt();
  EXPECT_EQ(start.attempt(), 2);
  EXPECT_EQ(start.resume_from(), "/c/step_10");
  EXPECT_EQ(start.node_rank(), 0);
}

TEST(CommandsTest, AShortGraceIsKeptToTheMillisecond) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  v1::JobSpec spec = TestSpec("job", 1, 2);
  spec.mutable_stop_grace()->set_seconds(2);
  spec.mutable_stop_grace()->set_nanos(345'000'000);
  const int64_t job = cluster.Submit(spec);
  cluster.RunJob(job);
  cluster.ExitRank(job, 0, 1);
  cluster.Settle();
  EXPECT_THAT(cluster.Commands(), ElementsAre("stop a 1/1 2345"));
}

TEST(CommandsTest, AGangThatFailedBeforeItsStopSavesNothing) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  const int64_t job = cluster.Submit("job", 1, 2);
  cluster.RunJob(job);
  cluster.ExitRank(job, 0, 1);
  cluster.Stop(job);
  EXPECT_THAT(cluster.Commands(), ElementsAre("stop a 1/1 3000"));
}

TEST(CommandsTest, FinishedGangIsAskedToStop) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.ExitAll(job, 0);
  EXPECT_THAT(cluster.Commands(), ElementsAre("stop a 1/1 3000"));
}

TEST(CommandsTest, JobsFromAfterARestoredBackupAreLeftAlone) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  v1::Event restored;
  restored.mutable_store_restored()->set_skipped_job_ids(100);
  Apply(restored, cluster.state);
  v1::AttemptReport& report = cluster.Report("a", job);
  report.set_job_id(77);
  cluster.Pass(500);
  EXPECT_THAT(cluster.Commands(), IsEmpty());
  report.set_job_id(102);
  cluster.Pass(500);
  EXPECT_THAT(cluster.Commands(), ElementsAre("stop a 102/1 3000"));
}

TEST(CommandsTest, AttemptsThatAreNotLiveMustLeave) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  v1::AttemptReport& report = cluster.Report("a", job);
  report.set_job_id(77);
  cluster.Pass(500);
  EXPECT_THAT(cluster.Commands(), ElementsAre("stop a 77/1 3000"));
  report.set_cleared(true);
  cluster.Pass(500);
  EXPECT_THAT(cluster.Commands(), IsEmpty());
  report.set_cleared(false);
  report.set_job_id(job);
  cluster.Pass(500);
  EXPECT_THAT(cluster.Commands(), IsEmpty());
  report.set_attempt(9);
  cluster.Pass(500);
  EXPECT_THAT(cluster.Commands(), ElementsAre("stop a 1/9 3000"));
}

TEST(CommandsTest, StartNamesTheOtherJobsThatHaveStartedAndNotEnded) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.AddNode("b", 1);
  const int64_t first = cluster.Submit(TestSpec("first", 1, 1));
  cluster.Settle();
  const int64_t second = cluster.Submit(TestSpec("second", 1, 1));
  cluster.Submit(TestSpec("waits", 1, 1));
  cluster.Settle();
  const std::vector<Command> commands =
      CommandsDue(cluster.state, cluster.observations, cluster.now);
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].message.start_attempt().job_id(), first);
  EXPECT_EQ(commands[0].message.start_attempt().live_jobs(), std::to_string(second));
  EXPECT_EQ(commands[1].message.start_attempt().live_jobs(), std::to_string(first));
}

TEST(CommandsTest, StartTellsRanksOfASpareNodeToStandBy) {
  TestCluster cluster;
  for (const char* id : {"a", "b", "c"}) cluster.AddNode(id, 1);
  cluster.Submit(SparesSpec("job", 2, 1, 1));
  cluster.Settle();
  const std::vector<Command> commands =
      CommandsDue(cluster.state, cluster.observations, cluster.now);
  ASSERT_EQ(commands.size(), 3u);
  EXPECT_FALSE(commands[1].message.start_attempt().ranks(0).standby());
  EXPECT_TRUE(commands[2].message.start_attempt().ranks(0).standby());
}

TEST(CommandsTest, TheListOfOtherJobsFitsIntoAnEnvironmentVariable) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.Submit("job", 1, 1);
  cluster.Settle();
  // 9,999 numbers of nine digits and one of ten make 100,000 bytes with their commas.
  for (int64_t id = 999'990'001; id <= 1'000'000'002; ++id) {
    cluster.state.jobs[id].job.add_attempts();
    cluster.state.paused_jobs.insert(id);
  }
  const std::vector<Command> commands =
      CommandsDue(cluster.state, cluster.observations, cluster.now);
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(commands[0].message.start_attempt().live_jobs().size(), 100'000u);
}

}  // namespace
}  // namespace trainyard::controller

#include "controller/core/commands.h"

#include "controller/core/apply/apply.h"
#include "controller/core/observations/observe.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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
  // The fact that a rank started may arrive before the heartbeat that reports the rank.
  cluster.StartRank(job, 2);
  EXPECT_THAT(cluster.Commands(), IsEmpty());
}

TEST(CommandsTest, StartTellsEachNodeItsProcesses) {
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
  ASSERT_EQ(start.processes_size(), 2);
  const v1::Process& process = start.processes(1);
  EXPECT_THAT(process.slots(), ElementsAre(1));
  ASSERT_EQ(process.ranks_size(), 1);
  EXPECT_EQ(process.ranks(0).rank(), 3);
  EXPECT_EQ(process.ranks(0).local_rank(), 1);
  EXPECT_FALSE(process.standby());
  ASSERT_EQ(start.ranks_size(), 2) << "for workers of earlier releases";
  EXPECT_EQ(start.ranks(1).rank(), 3);
  EXPECT_EQ(start.ranks(1).local_rank(), 1);
  EXPECT_EQ(start.ranks(1).slot(), 1);
}

TEST(CommandsTest, ALauncherGetsItsShareOfTheSlots) {
  TestCluster cluster;
  cluster.AddNode("a", 4);
  cluster.AddNode("b", 4);
  v1::JobSpec spec = TestSpec("job", 2, 4);
  spec.mutable_launch()->set_processes_per_node(2);
  cluster.Submit(spec);
  cluster.Settle();
  const std::vector<Command> commands =
      CommandsDue(cluster.state, cluster.observations, cluster.now);
  ASSERT_EQ(commands.size(), 2u);
  const v1::StartAttempt& start = commands[1].message.start_attempt();
  EXPECT_EQ(start.world_size(), 8);
  ASSERT_EQ(start.processes_size(), 2);
  const v1::Process& process = start.processes(1);
  EXPECT_THAT(process.slots(), ElementsAre(2, 3));
  ASSERT_EQ(process.ranks_size(), 2);
  EXPECT_EQ(process.ranks(0).rank(), 6);
  EXPECT_EQ(process.ranks(1).rank(), 7);
  EXPECT_EQ(process.ranks(1).local_rank(), 3);
  EXPECT_EQ(start.ranks_size(), 0) << "a worker of an earlier release must not start it";
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
  const std::vector<Command> commands =
      CommandsDue(cluster.state, cluster.observations, cluster.now);
  EXPECT_EQ(commands[0].message.stop_attempt().grace().seconds(), 2);
  EXPECT_EQ(commands[0].message.stop_attempt().grace().nanos(), 345'000'000);
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
  EXPECT_FALSE(commands[1].message.start_attempt().processes(0).standby());
  EXPECT_TRUE(commands[2].message.start_attempt().processes(0).standby());
  EXPECT_TRUE(commands[2].message.start_attempt().ranks(0).standby());
}

TEST(CommandsTest, ASpareNodeStartsAfterTheGang) {
  TestCluster cluster;
  for (const char* id : {"a", "b", "c"}) cluster.AddNode(id, 1);
  const int64_t job = cluster.Submit(SparesSpec("job", 2, 1, 1));
  cluster.Settle();
  for (const int rank : {0, 1}) cluster.StartRank(job, rank);
  cluster.Settle();
  ASSERT_EQ(cluster.StateOf(job), v1::JOB_STATE_RUNNING);
  EXPECT_THAT(cluster.Commands(), ElementsAre("start c 1/1"));
}

TEST(CommandsTest, StartContainsWhatRollbacksChange) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.Settle();
  v1::Job& stored = cluster.state.jobs.at(job).job;
  stored.mutable_attempts(0)->set_skip_samples("5:9");
  stored.mutable_attempts(0)->set_lr_factor(0.5);
  stored.add_rollbacks()->set_attempt(1);
  stored.mutable_rollbacks(0)->set_first_bad_step(90);
  const std::vector<Command> commands =
      CommandsDue(cluster.state, cluster.observations, cluster.now);
  ASSERT_EQ(commands.size(), 1u);
  const v1::StartAttempt& start = commands[0].message.start_attempt();
  EXPECT_EQ(start.skip_samples(), "5:9");
  EXPECT_EQ(start.lr_factor(), 0.5);
  EXPECT_EQ(start.rolled_back(), "1:90");
}

// A verdict from another release may name ranks outside the gang. Such ranks are ignored.
TEST(CommandsTest, AHungGangIsAskedForTheStacksOfEightRanksPerNode) {
  TestCluster cluster;
  cluster.AddNode("a", 10);
  const int64_t job = cluster.Submit("job", 1, 10);
  cluster.RunJob(job);
  v1::Attempt& attempt = *cluster.state.jobs.at(job).job.mutable_attempts(0);
  attempt.set_state(v1::ATTEMPT_STATE_STOPPING);
  attempt.set_stop_reason(v1::STOP_REASON_STALLED);
  for (const int place : {-1, 10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
    attempt.mutable_verdict()->add_ranks(place);
  }
  const std::vector<Command> commands =
      CommandsDue(cluster.state, cluster.observations, cluster.now);
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_THAT(commands[0].message.stop_attempt().stacks_of(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

// A gang on nodes "a" and "b". The spare node "c" has replaced node "b".
class HealCommandsTest : public ::testing::Test {
 protected:
  HealCommandsTest() {
    for (const char* id : {"a", "b", "c"}) cluster_.AddNode(id, 1);
    job_ = cluster_.Submit(SparesSpec("job", 2, 1, 1));
    cluster_.RunJob(job_);
    v1::Event event;
    v1::AttemptHealing& healing = *event.mutable_attempt_healing();
    healing.set_job_id(job_);
    healing.set_attempt(1);
    healing.set_generation(2);
    healing.add_seats()->set_place(1);
    healing.mutable_seats(0)->set_member(2);
    healing.set_master_address("10.0.0.9");
    healing.set_master_port(20777);
    Apply(event, cluster_.state);
  }

  // Adds this member to the report of the node's worker.
  void Report(const std::string& node_id, int member, bool running, int64_t ordered_generation) {
    v1::RankReport& rank = *cluster_.observations.nodes[node_id].reports[{job_, 1}].add_ranks();
    rank.set_rank(member);
    rank.set_running(running);
    rank.set_ordered_generation(ordered_generation);
  }
  // Returns the heal commands due for this node.
  std::vector<v1::HealAttempt> HealsOn(const std::string& node_id) {
    std::vector<v1::HealAttempt> heals;
    for (const Command& command :
         CommandsDue(cluster_.state, cluster_.observations, cluster_.now)) {
      const bool is_heal = command.node_id == node_id && command.message.has_heal_attempt();
      if (is_heal) heals.push_back(command.message.heal_attempt());
    }
    return heals;
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(HealCommandsTest, TheOrderNamesTheGenerationThePlacesAndTheRendezvous) {
  Report("a", 0, true, 1);
  v1::HealAttempt expected;
  expected.set_job_id(job_);
  expected.set_attempt(1);
  expected.set_generation(2);
  expected.add_orders();
  expected.add_replaced(1);
  expected.set_master_address("10.0.0.9");
  expected.set_master_port(20777);
  const std::vector<v1::HealAttempt> heals = HealsOn("a");
  ASSERT_THAT(heals, SizeIs(1));
  EXPECT_EQ(heals[0].ShortDebugString(), expected.ShortDebugString());
}

TEST_F(HealCommandsTest, AnOrderIsDueWhileARunningRankHasNoneOfTheGeneration) {
  struct Case {
    bool running;
    int64_t ordered_generation;
    bool due;
  };
  for (const Case& one : {Case{true, 0, true}, Case{true, 1, true}, Case{true, 2, false},
                          Case{false, 1, false}, Case{false, 2, false}}) {
    cluster_.observations.nodes["c"].reports.clear();
    Report("c", 2, one.running, one.ordered_generation);
    EXPECT_EQ(!HealsOn("c").empty(), one.due)
        << "running " << one.running << ", generation " << one.ordered_generation;
  }
}

TEST_F(HealCommandsTest, AReportedRankOutsideTheAttemptGetsNoOrder) {
  Report("c", -1, true, 0);
  Report("c", 3, true, 0);
  EXPECT_THAT(HealsOn("c"), IsEmpty());
}

TEST(CommandsTest, TheListOfOtherJobsFitsIntoAnEnvironmentVariable) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.Submit("job", 1, 1);
  cluster.Settle();
  // The last two ids do not fit into the limit of 100,000 bytes: the text has 9,999 numbers of nine
  // digits, one number of ten digits, and 9,999 commas.
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

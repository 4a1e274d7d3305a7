#include "controller/core/reconcile.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

// The exit code that a shell reports for SIGKILL (128 + 9). The program did not send the signal, so
// it is not to blame.
// Only the restart budget limits the number of restarts.
constexpr int kFromOutside = 137;

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(ReconcileTest, RunsJobFromQueueToSuccess) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  cluster.AddNode("b", 2);
  const int64_t job = cluster.Submit("job", 2, 2);
  EXPECT_THAT(Kinds(cluster.Settle()), ElementsAre("JobPlaced"));
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_STARTING);
  for (int rank = 0; rank < 3; ++rank) cluster.StartRank(job, rank);
  EXPECT_THAT(cluster.Settle(), IsEmpty());
  cluster.StartRank(job, 3);
  EXPECT_THAT(Kinds(cluster.Settle()), ElementsAre("AttemptRunning"));
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_RUNNING);
  cluster.ExitAll(job, 0);
  cluster.ClearNode(job, "a");
  EXPECT_THAT(cluster.Settle(), IsEmpty());
  cluster.ClearNode(job, "b");
  EXPECT_THAT(Kinds(cluster.Settle()), ElementsAre("AttemptEnded", "JobEnded"));
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(cluster.Job(job).verdict().cause(), v1::VERDICT_CAUSE_COMPLETED);
  EXPECT_EQ(cluster.state.free_nodes[v1::DEVICE_KIND_CPU][2].size(), 2u);
}

TEST(ReconcileTest, FailedRankStopsGangAndJobResumesFromNewestCheckpoint) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.AddNode("b", 1);
  const int64_t job = cluster.Submit("job", 2, 1);
  cluster.RunJob(job);
  cluster.Publish(job, 100);
  cluster.Publish(job, 50);
  cluster.ExitRank(job, 1, 70);
  EXPECT_THAT(Kinds(cluster.Settle()), ElementsAre("AttemptFailed"));
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_RECOVERING);
  cluster.ClearNode(job, "b");
  EXPECT_THAT(cluster.Settle(), IsEmpty());
  cluster.ClearNode(job, "a");
  EXPECT_THAT(Kinds(cluster.Settle()), ElementsAre("AttemptEnded"));
  EXPECT_EQ(cluster.Job(job).not_before_ms(), cluster.now + 1000);
  EXPECT_THAT(cluster.Pass(999), IsEmpty());
  EXPECT_THAT(Kinds(cluster.Pass(1)), ElementsAre("JobPlaced"));
  EXPECT_EQ(cluster.Attempt(job).number(), 2);
  EXPECT_EQ(cluster.Attempt(job).resume_from(), "/c/step_100");
  EXPECT_EQ(cluster.Attempt(job).resume_step(), 100);
  EXPECT_EQ(cluster.Job(job).restarts(), 1);
}

// A process survives SIGKILL while it is blocked in the kernel, for example by an unresponsive file
// server.
TEST(ReconcileTest, AProcessThatCannotBeKilledHoldsItsSlotsAndNotItsJob) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  const int64_t next = cluster.Submit("next", 1, 2);
  cluster.Stop(job, true);
  v1::AttemptReport& report = cluster.ReportRunning("a", job, 1);
  cluster.Pass(60'000);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_STOPPING);
  report.mutable_ranks(0)->set_unkillable("process 7 waits in the kernel");
  cluster.Pass(500);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_STOPPED);
  EXPECT_EQ(FreeSlots(cluster.state.nodes.at("a").node, v1::DEVICE_KIND_CPU), 1);
  // The small job can be placed on the other slot. The kill command is still due.
  const int64_t small = cluster.Submit("small", 1, 1);
  cluster.Stop(next);
  cluster.Pass(500);
  EXPECT_EQ(cluster.Placement(small), "a:1");
  EXPECT_THAT(cluster.Commands(), Contains(HasSubstr("stop a 1/1")));
  cluster.ClearNode(job, "a");
  EXPECT_EQ(FreeSlots(cluster.state.nodes.at("a").node, v1::DEVICE_KIND_CPU), 1);
  EXPECT_TRUE(cluster.state.nodes.at("a").uncleared.empty());
}

TEST(ReconcileTest, EventsSayWhichAttemptTheyAreAboutAndWhen) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  v1::JobSpec spec = TestSpec("job", 1, 1);
  spec.mutable_restart()->set_max_restarts(1);
  spec.mutable_restart()->mutable_backoff()->set_seconds(0);
  const int64_t job = cluster.Submit(spec);
  std::vector<v1::Event> events;
  const auto take = [&](const std::vector<v1::Event>& more) {
    for (const v1::Event& event : more) {
      EXPECT_EQ(event.time_ms(), cluster.now);
      EXPECT_EQ(event.actor(), "controller");
      events.push_back(event);
    }
  };
  for (int i = 0; i < 2; ++i) {
    take(cluster.Settle());
    cluster.StartRank(job, 0);
    take(cluster.Settle());
    cluster.ExitRank(job, 0, kFromOutside);
    take(cluster.Settle());
    cluster.ClearNode(job, "a");
  }
  take(cluster.Settle());
  ASSERT_THAT(Kinds(events), ElementsAre("JobPlaced", "AttemptRunning", "AttemptFailed",
                                         "AttemptEnded", "JobPlaced", "AttemptRunning",
                                         "AttemptFailed", "AttemptEnded", "JobEnded"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(events[4 * i].job_placed().job_id(), job);
    EXPECT_EQ(events[4 * i].job_placed().attempt(), i + 1);
    EXPECT_EQ(events[4 * i + 1].attempt_running().job_id(), job);
    EXPECT_EQ(events[4 * i + 1].attempt_running().attempt(), i + 1);
    EXPECT_EQ(events[4 * i + 2].attempt_failed().job_id(), job);
    EXPECT_EQ(events[4 * i + 2].attempt_failed().attempt(), i + 1);
    EXPECT_EQ(events[4 * i + 3].attempt_ended().job_id(), job);
    EXPECT_EQ(events[4 * i + 3].attempt_ended().attempt(), i + 1);
  }
  EXPECT_EQ(events[3].attempt_ended().retry_not_before_ms(), cluster.now);
  EXPECT_EQ(events[7].attempt_ended().retry_not_before_ms(), 0);
  EXPECT_EQ(events[8].job_ended().job_id(), job);
  EXPECT_EQ(events[8].job_ended().state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(events[8].job_ended().verdict().summary(),
            "rank 0 on a exited with code 137, because SIGKILL ended a process that it started "
            "(often the "
            "kernel, for lack of memory); the restart budget is used up: 1 restarts within 24 h");
}

TEST(ReconcileTest, FirstAttemptStartsFromTheCheckpointThatTheUserNames) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  v1::JobSpec spec = TestSpec("job", 1, 1);
  spec.mutable_checkpoint()->set_resume_from("/other/step_7");
  const int64_t job = cluster.Submit(spec);
  cluster.Settle();
  EXPECT_EQ(cluster.Attempt(job).resume_from(), "/other/step_7");
}

TEST(ReconcileTest, BackoffDoublesWithoutProgressAndStartsAnewWithIt) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  v1::JobSpec spec = TestSpec("job", 1, 1);
  spec.mutable_restart()->set_max_restarts(10);
  spec.mutable_restart()->mutable_backoff_max()->set_seconds(3);
  const int64_t job = cluster.Submit(spec);
  std::vector<int64_t> waits;
  for (int i = 0; i < 5; ++i) {
    cluster.RunJob(job);
    if (i == 4) cluster.Publish(job, 10);
    cluster.ExitAll(job, kFromOutside);
    cluster.ClearAll(job);
    waits.push_back(cluster.Job(job).not_before_ms() - cluster.now);
    cluster.Pass(waits.back());
  }
  EXPECT_THAT(waits, ElementsAre(1000, 2000, 3000, 3000, 1000));
}

TEST(ReconcileTest, JobFailsWhenItsRestartBudgetIsUsedUp) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  for (int i = 0; i < 4; ++i) {
    cluster.RunJob(job);
    cluster.ExitAll(job, kFromOutside);
    cluster.ClearAll(job);
    cluster.Pass(10000);
  }
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_FAILED);
  EXPECT_EQ(cluster.Job(job).attempts_size(), 4);
  EXPECT_THAT(cluster.Job(job).verdict().summary(), HasSubstr("3 restarts within 24 h"));
}

TEST(ReconcileTest, RestartsOutsideTheWindowDoNotCount) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  v1::JobSpec spec = TestSpec("job", 1, 1);
  spec.mutable_restart()->set_max_restarts(1);
  spec.mutable_restart()->mutable_window()->set_seconds(60);
  const int64_t job = cluster.Submit(spec);
  for (int i = 0; i < 4; ++i) {
    cluster.RunJob(job);
    cluster.ExitAll(job, kFromOutside);
    cluster.ClearAll(job);
    cluster.Pass(61000);
    ASSERT_EQ(cluster.StateOf(job), v1::JOB_STATE_STARTING) << i;
    EXPECT_EQ(cluster.Job(job).restarts(), 1);
  }
}

TEST(ReconcileTest, BadJobIsNotTriedAgain) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.ExitAll(job, 78);
  cluster.ClearAll(job);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_FAILED);
  EXPECT_EQ(cluster.Job(job).verdict().cause(), v1::VERDICT_CAUSE_BAD_JOB);
  EXPECT_EQ(cluster.Job(job).attempts_size(), 1);
}

TEST(ReconcileTest, HeadOfTheQueueIsNeverOvertaken) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  const int64_t running = cluster.Submit("running", 1, 1);
  cluster.RunJob(running);
  const int64_t wide = cluster.Submit("wide", 1, 2);
  const int64_t narrow = cluster.Submit("narrow", 1, 1);
  EXPECT_THAT(cluster.Settle(), IsEmpty());
  cluster.ExitAll(running, 0);
  cluster.ClearAll(running);
  EXPECT_EQ(cluster.StateOf(wide), v1::JOB_STATE_STARTING);
  EXPECT_EQ(cluster.StateOf(narrow), v1::JOB_STATE_QUEUED);
}

TEST(ReconcileTest, RecoveringJobKeepsItsSlots) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.AddNode("b", 1);
  const int64_t job = cluster.Submit("job", 2, 1);
  cluster.RunJob(job);
  const int64_t next = cluster.Submit("next", 1, 1);
  cluster.ExitRank(job, 0, 1);
  cluster.Settle();
  cluster.ClearAll(job);
  EXPECT_EQ(cluster.StateOf(next), v1::JOB_STATE_QUEUED);
  cluster.Pass(1000);
  EXPECT_EQ(cluster.Placement(job), "a:0 b:0");
  EXPECT_EQ(cluster.StateOf(next), v1::JOB_STATE_QUEUED);
}

TEST(ReconcileTest, RequeuesJobWhenNodeIsLost) {
  TestCluster cluster;
  for (const char* id : {"a", "b", "c"}) cluster.AddNode(id, 1);
  const int64_t job = cluster.Submit("job", 2, 1);
  cluster.RunJob(job);
  ASSERT_EQ(cluster.Placement(job), "a:0 b:0");
  cluster.StopHeartbeats("a");
  // The rank on the surviving node loses its connection and exits. The dead node cannot confirm
  // that its rank is gone.
  cluster.ExitRank(job, 1, 69);
  cluster.Pass(2000);
  ASSERT_EQ(cluster.StateOf(job), v1::JOB_STATE_RECOVERING);
  EXPECT_THAT(cluster.Attempt(job).verdict().summary(), HasSubstr("node a has sent no heartbeat"));
  cluster.ClearNode(job, "b");
  const std::vector<std::string> kinds = Kinds(cluster.Pass(8000));
  EXPECT_THAT(kinds, ElementsAre("NodeSuspected", "NodeLost", "AttemptEnded", "JobPlaced"));
  EXPECT_EQ(cluster.Placement(job), "c:0 b:0");
}

TEST(ReconcileTest, StopBeforeAnyRankHasStarted) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.Settle();
  cluster.Stop(job);
  EXPECT_THAT(cluster.Commands(), ElementsAre("stop a 1/1 60000"));
  cluster.ClearAll(job);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_STOPPED);
}

TEST(ReconcileTest, RanksThatEndWellAfterAStopMeanStopped) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  const int64_t job = cluster.Submit("job", 1, 2);
  cluster.RunJob(job);
  cluster.Stop(job);
  cluster.ExitRank(job, 0, 0);
  cluster.ExitRank(job, 1, 143);
  cluster.ClearAll(job);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_STOPPED);
  EXPECT_EQ(cluster.Job(job).verdict().summary(), "stopped by a user");
}

TEST(ReconcileTest, StopInBackoffEndsTheJobAndFreesItsSlots) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  cluster.Stop(job);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_STOPPED);
  EXPECT_EQ(cluster.Attempt(job).verdict().cause(), v1::VERDICT_CAUSE_RANK_EXITED);
  EXPECT_EQ(cluster.state.free_nodes[v1::DEVICE_KIND_CPU][1].size(), 1u);
}

TEST(ReconcileTest, NodeLostAfterAllItsRanksEndedWellCostsNoRestart) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.ExitAll(job, 0);
  cluster.StopHeartbeats("a");
  cluster.Pass(9000);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_SUCCEEDED);
}

TEST(ReconcileTest, ExitFactAloneProvesThatTheRankHadStarted) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.Settle();
  cluster.ExitAll(job, 0);
  cluster.ClearAll(job);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_SUCCEEDED);
}

TEST(ReconcileTest, RendezvousPortsDifferAndChangeWithTheAttempt) {
  TestCluster cluster;
  cluster.options.first_rendezvous_port = 20000;
  cluster.options.last_rendezvous_port = 20002;
  cluster.AddNode("a", 4);
  std::set<int> ports;
  std::vector<int64_t> jobs;
  for (const char* name : {"w", "x", "y", "z"}) jobs.push_back(cluster.Submit(name, 1, 1));
  cluster.Settle();
  for (int i = 0; i < 3; ++i) ports.insert(cluster.Attempt(jobs[i]).master_port());
  EXPECT_EQ(ports.size(), 3u);
  // The job remains queued because all ports of this address are in use.
  EXPECT_EQ(cluster.StateOf(jobs[3]), v1::JOB_STATE_QUEUED);
  cluster.Stop(jobs[3]);
  cluster.Stop(jobs[2]);
  cluster.ClearAll(jobs[2]);
  cluster.StartAll(jobs[0]);
  const int before = cluster.Attempt(jobs[0]).master_port();
  cluster.ExitAll(jobs[0], 75);
  cluster.ClearAll(jobs[0]);
  cluster.Pass(1000);
  ASSERT_EQ(cluster.Attempt(jobs[0]).number(), 2);
  EXPECT_NE(cluster.Attempt(jobs[0]).master_port(), before);
  EXPECT_EQ(cluster.Job(jobs[0]).restarts(), 0);
}

TEST(ReconcileTest, TheOnlyPortOfARangeIsUsedAgain) {
  TestCluster cluster;
  cluster.options.first_rendezvous_port = 20000;
  cluster.options.last_rendezvous_port = 20000;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  cluster.Pass(1000);
  EXPECT_EQ(cluster.Attempt(job).number(), 2);
  EXPECT_EQ(cluster.Attempt(job).master_port(), 20000);
}

TEST(ReconcileTest, ClustersThatShareAHostBeginElsewhereInTheRange) {
  const auto first_port = [](int64_t offset) {
    TestCluster cluster;
    cluster.options.rendezvous_offset = offset;
    cluster.AddNode("a", 1);
    const int64_t job = cluster.Submit("job", 1, 1);
    cluster.Settle();
    return cluster.Attempt(job).master_port();
  };
  EXPECT_EQ(first_port(5000) - first_port(0), 5000);
  // 131 is the port stride per job, and 17 the stride per attempt.
  EXPECT_EQ(first_port(0), 20000 + 131 + 17);
  // The ports must stay in the valid range, whatever the controller's starting value is.
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  EXPECT_GE(first_port(kLargest), 20000);
  EXPECT_LE(first_port(kLargest), 29999);
}

TEST(ReconcileTest, OneCallPlacesABoundedNumberOfJobs) {
  TestCluster cluster;
  cluster.AddNode("a", kPlacementsPerPass);
  cluster.AddNode("b", 100);
  constexpr int kJobs = kPlacementsPerPass + 100;
  for (int i = 0; i < kJobs; ++i) cluster.Submit(std::string("job-") + std::to_string(i), 1, 1);
  const std::size_t first =
      Reconcile(cluster.state, cluster.observations, cluster.options, cluster.now).events.size();
  EXPECT_EQ(first, static_cast<std::size_t>(kPlacementsPerPass));
  EXPECT_EQ(cluster.Settle().size(), static_cast<std::size_t>(kJobs));
  EXPECT_THAT(cluster.state.pending_jobs, IsEmpty());
}

TEST(ReconcileTest, OldAttemptsAreTrimmed) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  v1::JobSpec spec = TestSpec("job", 1, 1);
  spec.mutable_restart()->set_max_restarts(1000);
  spec.mutable_restart()->mutable_backoff()->set_seconds(0);
  const int64_t job = cluster.Submit(spec);
  for (int i = 0; i < 120; ++i) {
    cluster.RunJob(job);
    cluster.ExitAll(job, kFromOutside);
    cluster.ClearAll(job);
  }
  EXPECT_EQ(cluster.Job(job).attempts_size(), kAttemptsKept);
  EXPECT_EQ(cluster.Attempt(job).number(), 121);
  EXPECT_EQ(cluster.Job(job).attempts(0).number(), 22);
  EXPECT_EQ(cluster.Job(job).attempts(89).ranks_size(), 0);
  EXPECT_EQ(cluster.Job(job).attempts(90).ranks_size(), 1);
}

// The older job has priority on free nodes, even if it still lacks nodes to start.
TEST(ReconcileTest, FewerSparesTakeNoFreeNodeFromAnOlderRecoveringJob) {
  TestCluster cluster;
  for (const char* id : {"a", "b", "c", "d"}) cluster.AddNode(id, 1);
  const int64_t older = cluster.Submit("older", 4, 1);
  cluster.RunJob(older);
  for (const char* id : {"e", "f", "g"}) cluster.AddNode(id, 1);
  const int64_t younger = cluster.Submit(SparesSpec("younger", 2, 1, 1));
  cluster.RunJob(younger);
  ASSERT_EQ(cluster.Placement(younger), "e:0 f:0 g:0");
  cluster.AddNode("h", 1);
  for (const char* id : {"b", "c", "d", "f", "g"}) cluster.StopHeartbeats(id);
  cluster.ExitRank(older, 0, 1);
  cluster.ExitRank(younger, 0, 75);
  cluster.Settle();
  cluster.ClearNode(older, "a");
  cluster.ClearNode(younger, "e");
  cluster.Pass(12'000);
  EXPECT_EQ(cluster.StateOf(older), v1::JOB_STATE_RECOVERING);
  EXPECT_EQ(cluster.StateOf(younger), v1::JOB_STATE_RECOVERING) << "h is free";
  cluster.AddNode("i", 1);
  cluster.Pass(500);
  EXPECT_EQ(cluster.Placement(older), "a:0 e:0 h:0 i:0");
}

}  // namespace
}  // namespace trainyard::controller

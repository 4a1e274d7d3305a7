// Tests the events that one call of Reconcile returns, and how these events affect each other.
#include <algorithm>
#include <string>
#include <vector>

#include "controller/core/observations/observe.h"
#include "controller/core/observations/root_sightings.h"
#include "controller/core/reconcile.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/contract/exit_code.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// An exit code (128 + SIGKILL) for which the program is not blamed.
constexpr int kKilled = 137;

class ReconcilePassTest : public ::testing::Test {
 protected:
  void AddNodes(const std::vector<std::string>& ids, int slots = 1) {
    for (const std::string& id : ids) cluster_.AddNode(id, slots);
  }
  // Returns the events of one call of Reconcile without applying them.
  std::vector<v1::Event> Call() const {
    return Reconcile(cluster_.state, cluster_.observations, cluster_.options, cluster_.now).events;
  }
  void Pause(int64_t job) {
    PauseJob pause;
    pause.request.set_job(std::to_string(job));
    pause.principal = {"ada"};
    cluster_.Do(pause);
  }
  void Resume(int64_t job) {
    ResumeJob resume;
    resume.request.set_job(std::to_string(job));
    resume.principal = {"ada"};
    cluster_.Do(resume);
  }
  void Leave(int64_t job, int exit_code) {
    cluster_.ExitAll(job, exit_code);
    cluster_.ClearAll(job);
  }
  // Sends a heartbeat of the node's worker that reports this trouble.
  void ReportTrouble(const std::string& node_id, const std::string& trouble) {
    v1::Heartbeat heartbeat;
    heartbeat.mutable_condition()->set_trouble(trouble);
    ObserveHeartbeat(node_id, heartbeat, cluster_.now, cluster_.state, cluster_.observations);
  }

  TestCluster cluster_;
};

v1::JobPlaced PlacedIn(const std::vector<v1::Event>& events) {
  const auto found = std::ranges::find_if(events, &v1::Event::has_job_placed);
  EXPECT_NE(found, events.end());
  return found == events.end() ? v1::JobPlaced() : found->job_placed();
}

TEST_F(ReconcilePassTest, AFailureBeforeAPauseIsJudgedBeforeTheAttemptEnds) {
  AddNodes({"a", "b"});
  const int64_t job = cluster_.Submit("job", 2, 1);
  cluster_.RunJob(job);
  cluster_.ExitRank(job, 1, static_cast<int>(ExitCode::kPeerLost));
  Pause(job);
  cluster_.ClearAll(job);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_PAUSING);
  EXPECT_THAT(cluster_.Pass(1999), IsEmpty()) << "the rank that failed first may still report";
  EXPECT_THAT(Kinds(cluster_.Pass(1)), ElementsAre("AttemptFailed", "AttemptEnded"));
}

TEST_F(ReconcilePassTest, OneCallBlamesANodeOnce) {
  AddNodes({"a"}, 2);
  for (const char* name : {"first", "second"}) {
    const int64_t job = cluster_.Submit(name, 1, 1);
    cluster_.RunJob(job);
  }
  for (const int64_t job : {1, 2}) {
    cluster_.ExitRank(job, 0, static_cast<int>(ExitCode::kDeviceFault));
  }
  EXPECT_THAT(Kinds(Call()), ElementsAre("AttemptFailed", "NodeBlamed", "AttemptFailed"));
}

TEST_F(ReconcilePassTest, APauseThatSavedNothingRaisesAnAlert) {
  AddNodes({"a"});
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.RunJob(job);
  cluster_.Publish(job, 100);
  cluster_.observations.attempts[{job, 1}].ranks[0].step = 120;
  Pause(job);
  cluster_.ExitRank(job, 0, static_cast<int>(ExitCode::kCannotWrite));
  cluster_.ClearNode(job, "a");
  const std::vector<v1::Event> events = cluster_.Settle();
  ASSERT_THAT(Kinds(events), ElementsAre("AttemptEnded", "AlertRaised"));
  v1::AlertRaised expected;
  expected.set_job_id(job);
  expected.set_attempt(1);
  expected.set_step(120);
  expected.set_code("paused_unsaved");
  expected.set_message(
      "paused; 20 steps after step 100 are lost, because no checkpoint was saved when the ranks "
      "stopped: rank 0 exited with code 73 (cannot write)");
  EXPECT_EQ(events[1].alert_raised().ShortDebugString(), expected.ShortDebugString());
}

TEST_F(ReconcilePassTest, TheWarningOfAnUnsharedRootNamesTheAttempt) {
  RootSightings& roots = cluster_.observations.roots;
  roots.path = cluster_.options.checkpoint_root;
  for (const char directory : {'1', '2'}) {
    const std::string id(1, directory);
    cluster_.AddNode(id, 1);
    v1::Heartbeat heartbeat;
    heartbeat.mutable_checkpoint_root()->set_path(roots.path);
    heartbeat.mutable_checkpoint_root()->set_nonce(std::string(32, directory));
    NoteRoot(id, heartbeat, cluster_.now, roots);
  }
  const int64_t job = cluster_.Submit("job", 1, 1);
  const std::vector<v1::Event> events = cluster_.Settle();
  ASSERT_THAT(Kinds(events), ElementsAre("JobPlaced", "AlertRaised"));
  EXPECT_EQ(events[1].alert_raised().job_id(), job);
  EXPECT_EQ(events[1].alert_raised().attempt(), 1);
}

TEST_F(ReconcilePassTest, OnlyAnAttemptAfterAPauseIsAResumedOne) {
  AddNodes({"a"});
  const int64_t job = cluster_.Submit("job", 1, 1);
  EXPECT_FALSE(PlacedIn(cluster_.Settle()).resumed()) << "the first attempt";
  cluster_.StartAll(job);
  Leave(job, kKilled);
  EXPECT_FALSE(PlacedIn(cluster_.Pass(1000)).resumed()) << "a restart";
  cluster_.StartAll(job);
  Pause(job);
  Leave(job, 143);
  Resume(job);
  EXPECT_TRUE(PlacedIn(cluster_.Settle()).resumed()) << "paused while it ran";
  cluster_.StartAll(job);
  Leave(job, kKilled);
  ASSERT_EQ(cluster_.StateOf(job), v1::JOB_STATE_RECOVERING);
  Pause(job);
  Resume(job);
  EXPECT_TRUE(PlacedIn(cluster_.Settle()).resumed()) << "paused in its backoff";
}

TEST_F(ReconcilePassTest, AHeldJobStartsAndIsNotResumed) {
  AddNodes({"a"});
  const int64_t job = cluster_.Submit("job", 1, 1);
  Pause(job);
  ASSERT_EQ(cluster_.StateOf(job), v1::JOB_STATE_HELD);
  Resume(job);
  EXPECT_FALSE(PlacedIn(cluster_.Settle()).resumed());
}

TEST_F(ReconcilePassTest, APlacementWithoutRollbacksLeavesTheLearningRate) {
  AddNodes({"a"});
  cluster_.Submit("job", 1, 1);
  EXPECT_EQ(PlacedIn(cluster_.Settle()).lr_factor(), 0);
}

TEST_F(ReconcilePassTest, TheFirstAttemptMayUseAnyPortOfTheRange) {
  cluster_.options.first_rendezvous_port = 1;
  cluster_.options.last_rendezvous_port = 2;
  AddNodes({"a"});
  cluster_.Submit("job", 1, 1);
  EXPECT_EQ(PlacedIn(cluster_.Settle()).master_port(), 1);
}

TEST_F(ReconcilePassTest, AHeadWithoutAPortIsOvertakenOnOtherNodesOnly) {
  cluster_.options.first_rendezvous_port = 20000;
  cluster_.options.last_rendezvous_port = 20000;
  AddNodes({"a"}, 4);
  AddNodes({"b"}, 2);
  const int64_t first = cluster_.Submit("first", 1, 3);
  cluster_.RunJob(first);
  ASSERT_EQ(cluster_.Placement(first), "a:0 a:1 a:2");
  cluster_.Submit("head", 1, 1);
  const int64_t later = cluster_.Submit("later", 1, 2);
  cluster_.Submit("last", 1, 1);
  const std::vector<v1::Event> events = Call();
  ASSERT_THAT(events, SizeIs(1)) << "the best node of the head is a, whose port is in use";
  EXPECT_EQ(events[0].job_placed().job_id(), later);
}

TEST_F(ReconcilePassTest, ANodeThatIsSuspectedInThisCallGetsNoRanks) {
  AddNodes({"a"});
  cluster_.Submit("job", 1, 1);
  cluster_.now += cluster_.options.suspect_after_ms;
  EXPECT_THAT(Kinds(Call()), ElementsAre("NodeSuspected"));
}

TEST_F(ReconcilePassTest, ANodeThatReportsTroubleInThisCallGetsNoRanks) {
  AddNodes({"a"});
  cluster_.Submit("job", 1, 1);
  ReportTrouble("a", "the disk is full");
  EXPECT_THAT(Kinds(Call()), ElementsAre("NodeUnhealthy"));
}

TEST_F(ReconcilePassTest, ARecoveringJobWaitsForItsNodeThatIsHealthyFromThisCallOn) {
  AddNodes({"a", "b"});
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.RunJob(job);
  ASSERT_EQ(cluster_.Placement(job), "a:0");
  ReportTrouble("a", "the disk is full");
  cluster_.Settle();
  Leave(job, 1);
  ASSERT_EQ(cluster_.StateOf(job), v1::JOB_STATE_RECOVERING);
  cluster_.now += 1000;
  ReportTrouble("a", "");
  EXPECT_THAT(Kinds(Call()), ElementsAre("NodeHealthy")) << "b is free";
  cluster_.Settle();
  EXPECT_EQ(cluster_.Attempt(job).number(), 2);
  EXPECT_EQ(cluster_.Placement(job), "a:0");
}

TEST_F(ReconcilePassTest, ARecoveringJobTakesAFreeNodeForALostSpare) {
  AddNodes({"a", "b", "c", "d"});
  const int64_t job = cluster_.Submit(SparesSpec("job", 2, 1, 2));
  cluster_.RunJob(job);
  ASSERT_EQ(cluster_.Placement(job), "a:0 b:0 c:0 d:0");
  AddNodes({"e"});
  for (const char* id : {"c", "d"}) cluster_.StopHeartbeats(id);
  cluster_.ExitRank(job, 0, 75);
  cluster_.Settle();
  for (const char* id : {"a", "b"}) cluster_.ClearNode(job, id);
  cluster_.Pass(15'000);
  EXPECT_EQ(cluster_.Attempt(job).number(), 2);
  EXPECT_EQ(cluster_.Placement(job), "a:0 b:0 e:0");
}

TEST_F(ReconcilePassTest, AJobThatNeverRanWaitsForItsSpareNode) {
  AddNodes({"a", "b", "c"});
  const int64_t blocker = cluster_.Submit("blocker", 1, 1);
  cluster_.RunJob(blocker);
  ASSERT_EQ(cluster_.Placement(blocker), "a:0");
  const int64_t job = cluster_.Submit(SparesSpec("job", 2, 1, 1));
  cluster_.StopHeartbeats("c");
  cluster_.Pass(12'000);
  ASSERT_EQ(cluster_.NodeStateOf("c"), v1::NODE_STATE_LOST);
  Leave(blocker, 0);
  cluster_.Pass(1000);
  EXPECT_EQ(cluster_.Job(job).attempts_size(), 0);
}

TEST_F(ReconcilePassTest, AResumedJobContinuesWithoutASpareNodeThatIsGone) {
  AddNodes({"a", "b", "c"});
  const int64_t job = cluster_.Submit(SparesSpec("job", 2, 1, 1));
  cluster_.RunJob(job);
  Pause(job);
  Leave(job, 143);
  ASSERT_EQ(cluster_.StateOf(job), v1::JOB_STATE_PAUSED);
  cluster_.StopHeartbeats("c");
  cluster_.Pass(12'000);
  ASSERT_EQ(cluster_.NodeStateOf("c"), v1::NODE_STATE_LOST);
  Resume(job);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Attempt(job).number(), 2);
  EXPECT_EQ(cluster_.Placement(job), "a:0 b:0");
}

TEST_F(ReconcilePassTest, ARecoveringJobIsPlacedFirst) {
  AddNodes({"r"}, 2);
  std::vector<int64_t> older;
  for (int i = 0; i < kPlacementsPerPass; ++i) {
    v1::SubmitJobRequest request;
    *request.mutable_spec() = TestSpec("held-" + std::to_string(i), 1, 1);
    request.set_hold(true);
    cluster_.Do(Checked(request));
    older.push_back(cluster_.state.next_job_id - 1);
  }
  const int64_t job = cluster_.Submit("job", 1, 2);
  cluster_.RunJob(job);
  cluster_.StopHeartbeats("r");
  Leave(job, 1);
  cluster_.Pass(cluster_.options.lease_ms + 10'000, 5000);
  ASSERT_EQ(cluster_.NodeStateOf("r"), v1::NODE_STATE_LOST);
  AddNodes({"big"}, kPlacementsPerPass + 2);
  for (const int64_t id : older) Resume(id);
  const std::vector<v1::Event> events = Call();
  EXPECT_THAT(events, SizeIs(kPlacementsPerPass));
  EXPECT_THAT(Kinds(events), Each("JobPlaced"));
  cluster_.Settle();
  EXPECT_EQ(cluster_.Placement(job), "big:0 big:1");
}

// The requeued job precedes the head and keeps its slot until its checkpoint has been reported. A
// preemption would let the head take this slot, so that the other job would yield for nothing.
TEST_F(ReconcilePassTest, NoJobIsPreemptedWhileAJobAwaitsItsCheckpoint) {
  AddNodes({"a", "b"});
  const int64_t wait_ms = cluster_.options.preemption.wait_ms;
  v1::JobSpec limited = TestSpec("limited", 1, 1);
  limited.set_priority(2);
  limited.mutable_time_limit()->set_seconds(2 * wait_ms / 1000);
  limited.set_at_time_limit(v1::AT_TIME_LIMIT_REQUEUE);
  const int64_t requeued = cluster_.Submit(limited);
  cluster_.RunJob(requeued);
  cluster_.Pass(wait_ms + 1000, 1000);
  const int64_t other = cluster_.Submit("other", 1, 1);
  cluster_.RunJob(other);
  v1::JobSpec urgent = TestSpec("urgent", 1, 1);
  urgent.set_priority(1);
  cluster_.Submit(urgent);
  cluster_.Report("a", requeued);
  cluster_.Pass(wait_ms - 1000, 1000);
  ASSERT_EQ(cluster_.Attempt(requeued).stop_reason(), v1::STOP_REASON_YIELDED);
  Leave(requeued, kKilled);
  EXPECT_THAT(cluster_.Pass(5000), IsEmpty()) << "the head has now waited long enough";
  cluster_.ForgetReport("a", requeued);
  EXPECT_THAT(Kinds(cluster_.Pass(1000)), ElementsAre("JobPlaced", "AttemptYielded"));
  EXPECT_EQ(cluster_.Attempt(requeued).number(), 2);
  EXPECT_TRUE(cluster_.Attempt(other).has_yield());
}

}  // namespace
}  // namespace trainyard::controller

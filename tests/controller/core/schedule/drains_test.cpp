#include "controller/core/schedule/drains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/core/event_log/snapshot.h"
#include "controller/core/explain/explain.h"
#include "tests/controller/core/test_cluster.h"
#include "tests/controller/core/verdict/heal_fixture.h"

namespace trainyard::controller {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int kDrainedExitCode = 143;
constexpr int64_t kHalfHourMs = 30 * 60'000;

CordonNode DrainWithin(const std::string& node, int64_t after_ms) {
  CordonNode drain{.request = {}, .principal = {"ada"}};
  drain.request.set_node(node);
  drain.request.set_cordoned(true);
  drain.request.set_reason("bad fan");
  drain.request.set_drain_after_ms(after_ms);
  return drain;
}

CordonNode EndOfDrain(const std::string& node) {
  CordonNode uncordon{.request = {}, .principal = {"ada"}};
  uncordon.request.set_node(node);
  return uncordon;
}

class DrainsTest : public testing::Test {
 protected:
  DrainsTest() {
    cluster_.AddNode("a", 2);
    cluster_.AddNode("b", 2);
  }

  // Runs a job on both slots of a node. The job has saved step 20.
  int64_t RunJob(const std::string& name) {
    const int64_t job = cluster_.Submit(name, 1, 2);
    cluster_.RunJob(job);
    cluster_.Publish(job, 20);
    return job;
  }

  void Leave(int64_t job) {
    cluster_.ExitAll(job, kDrainedExitCode);
    cluster_.ClearAll(job);
  }

  const v1::Node& Node(const std::string& id) const { return cluster_.state.nodes.at(id).node; }

  std::string Why(int64_t job) const {
    return ExplainJob(cluster_.View(), cluster_.state.jobs.at(job)).answer();
  }

  // Checks that a snapshot restores the state, as at a restart of the controller.
  void ExpectSnapshotHoldsIt() const {
    const ClusterState copy = FromSnapshot(ToSnapshot(cluster_.state, 0));
    EXPECT_EQ(Bytes(copy), Bytes(cluster_.state));
    EXPECT_EQ(DifferentIndexes(copy, cluster_.state), "");
  }

  TestCluster cluster_;
};

TEST_F(DrainsTest, AnIdleNodeIsDrainedAtOnce) {
  EXPECT_THAT(Kinds(cluster_.Do(DrainWithin("a", kHalfHourMs))), ElementsAre("NodeDraining"));
  EXPECT_TRUE(Node("a").cordoned());
  EXPECT_EQ(Node("a").cordon_reason(), "bad fan (user ada)");
  EXPECT_THAT(cluster_.state.draining_nodes, ElementsAre("a"));
  ExpectSnapshotHoldsIt();
  EXPECT_THAT(Kinds(cluster_.Settle()), ElementsAre("NodeDrained"));
  EXPECT_EQ(Node("a").drain().drained_ms(), cluster_.now);
  EXPECT_THAT(cluster_.state.draining_nodes, IsEmpty());
  EXPECT_THAT(cluster_.Settle(), IsEmpty());
  ExpectSnapshotHoldsIt();
}

TEST_F(DrainsTest, AJobRunsUntilTheDeadlineAndContinuesElsewhere) {
  const int64_t job = RunJob("job"), other = RunJob("other");
  ASSERT_EQ(cluster_.Placement(job), "a:0 a:1");
  cluster_.Do(DrainWithin("a", 10'000));
  EXPECT_THAT(Kinds(cluster_.Pass(9'000)), Not(Contains("AttemptYielded")));
  EXPECT_THAT(Why(job), HasSubstr("node a is draining (jobs leave within 1 s): bad fan (user ada); "
                                  "the job will save and continue on other nodes"));
  EXPECT_THAT(Kinds(cluster_.Pass(1'000)), Contains("AttemptYielded"));
  EXPECT_EQ(cluster_.Attempt(job).yield().cause(), v1::YIELD_CAUSE_DRAIN);
  EXPECT_EQ(cluster_.Attempt(job).yield().reason(), "node a is being drained: bad fan (user ada)");
  EXPECT_THAT(cluster_.Commands(), Contains("stop a 1/1 60000"));
  Leave(job);
  cluster_.Settle();
  EXPECT_NE(Node("a").drain().drained_ms(), 0);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(Why(job), HasSubstr("a is drained: bad fan (user ada)"));
  cluster_.ExitAll(other, 0);
  cluster_.ClearAll(other);
  cluster_.RunJob(job);
  EXPECT_EQ(cluster_.Placement(job), "b:0 b:1");
  EXPECT_EQ(cluster_.Attempt(job).resume_step(), 20);
  EXPECT_EQ(cluster_.Job(job).restarts(), 0);
}

TEST_F(DrainsTest, AJobThatHasJustSavedMovesEarlyIfItFitsElsewhere) {
  const int64_t job = RunJob("job");
  cluster_.Step(job, 0, 20, 1);
  cluster_.Do(DrainWithin("a", kHalfHourMs));
  EXPECT_THAT(Kinds(cluster_.Settle()), ElementsAre("AttemptYielded"));
  Leave(job);
  cluster_.RunJob(job);
  EXPECT_EQ(cluster_.Placement(job), "b:0 b:1");
}

TEST_F(DrainsTest, UnsavedStepsDelayAnEarlyMoveUntilTheNextSave) {
  const int64_t job = RunJob("job");
  cluster_.Step(job, 0, 40, 1);
  cluster_.Do(DrainWithin("a", kHalfHourMs));
  EXPECT_THAT(cluster_.Settle(), IsEmpty()) << "20 s of steps are in no checkpoint";
  cluster_.Publish(job, 40);
  EXPECT_THAT(Kinds(cluster_.Settle()), ElementsAre("AttemptYielded"));
}

TEST_F(DrainsTest, NoJobMovesEarlyWithoutFreeSlots) {
  const int64_t job = RunJob("job");
  RunJob("other");
  cluster_.Step(job, 0, 20, 1);
  cluster_.Do(DrainWithin("a", kHalfHourMs));
  EXPECT_THAT(cluster_.Settle(), IsEmpty());
}

TEST_F(DrainsTest, NoJobMovesEarlyWhileAnotherJobWaits) {
  const int64_t job = RunJob("job");
  cluster_.Step(job, 0, 20, 1);
  cluster_.Submit("wide", 2, 2);
  cluster_.Settle();
  cluster_.Do(DrainWithin("a", kHalfHourMs));
  EXPECT_THAT(cluster_.Settle(), IsEmpty());
}

TEST_F(DrainsTest, AJobThatWaitsForAnotherKindOfSlotsDelaysNoEarlyMove) {
  cluster_.AddNode("c", 1);
  v1::Hello hello = cluster_.HelloOf("c");
  hello.mutable_inventory()->mutable_slots(0)->set_kind(v1::DEVICE_KIND_GPU);
  hello.set_incarnation("2");
  cluster_.Do(AttachWorker{hello});
  cluster_.OpenStream("c");
  for (const char* name : {"runs", "waits"}) {
    v1::JobSpec gpu = TestSpec(name, 1, 1);
    gpu.mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
    cluster_.Submit(gpu);
  }
  const int64_t job = RunJob("job");
  cluster_.Step(job, 0, 20, 1);
  ASSERT_FALSE(cluster_.state.pending_jobs.empty());
  cluster_.Do(DrainWithin("a", kHalfHourMs));
  EXPECT_THAT(Kinds(cluster_.Settle()), ElementsAre("AttemptYielded"));
}

TEST_F(DrainsTest, JobsMoveEarlyOneAtATime) {
  const int64_t first = cluster_.Submit("first", 1, 1), second = cluster_.Submit("second", 1, 1);
  for (const int64_t job : {first, second}) {
    cluster_.RunJob(job);
    cluster_.Publish(job, 20);
    cluster_.Step(job, 0, 20, 1);
  }
  ASSERT_EQ(cluster_.Placement(second), "a:1");
  cluster_.Do(DrainWithin("a", kHalfHourMs));
  EXPECT_THAT(Kinds(cluster_.Settle()), ElementsAre("AttemptYielded"));
  Leave(first);
  cluster_.RunJob(first);
  EXPECT_THAT(Kinds(cluster_.Settle()), IsEmpty()) << "the second job yields with the placement";
  EXPECT_TRUE(cluster_.Attempt(second).has_yield());
}

TEST_F(DrainsTest, AGangKeepsItsSlotsOnOtherNodesForAnEarlyMove) {
  cluster_.AddNode("c", 2);
  const int64_t job = cluster_.Submit("gang", 2, 2);
  cluster_.RunJob(job);
  ASSERT_EQ(cluster_.Placement(job), "a:0 a:1 b:0 b:1");
  cluster_.Publish(job, 20);
  cluster_.Step(job, 0, 20, 1);
  cluster_.Do(DrainWithin("a", kHalfHourMs));
  EXPECT_THAT(Kinds(cluster_.Settle()), ElementsAre("AttemptYielded"));
  Leave(job);
  cluster_.RunJob(job);
  EXPECT_THAT(cluster_.Placement(job), HasSubstr("c:0 c:1"));
}

TEST_F(DrainsTest, AJobWithoutAStepTimeDoesNotMoveEarly) {
  const int64_t job = RunJob("job");
  cluster_.Step(job, 0, 40, 0);
  cluster_.Do(DrainWithin("a", kHalfHourMs));
  EXPECT_THAT(cluster_.Settle(), IsEmpty());
}

TEST_F(DrainsTest, TheEndOfADrainLetsTheJobContinue) {
  const int64_t job = RunJob("job");
  cluster_.Do(DrainWithin("a", 10'000));
  cluster_.Pass(5'000);
  EXPECT_THAT(Kinds(cluster_.Do(EndOfDrain("a"))), ElementsAre("NodeUncordoned"));
  EXPECT_FALSE(Node("a").has_drain());
  EXPECT_THAT(cluster_.state.draining_nodes, IsEmpty());
  EXPECT_THAT(Kinds(cluster_.Pass(10'000)), Not(Contains("AttemptYielded")));
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_RUNNING);
}

TEST_F(DrainsTest, AFailureBeforeTheDeadlineRestartsElsewhere) {
  const int64_t job = RunJob("job");
  cluster_.Do(DrainWithin("a", kHalfHourMs));
  cluster_.ExitAll(job, 1);
  cluster_.ClearAll(job);
  EXPECT_NE(Node("a").drain().drained_ms(), 0);
  cluster_.Pass(1'000);
  EXPECT_EQ(cluster_.Placement(job), "b:0 b:1");
}

TEST_F(DrainsTest, ALaterDeadlineReplacesTheEarlierOne) {
  const int64_t job = RunJob("job");
  RunJob("other");
  cluster_.Do(DrainWithin("a", 5'000));
  const Timestamp since = Node("a").drain().since_ms();
  cluster_.Pass(1'000);
  cluster_.Do(DrainWithin("a", 60'000));
  EXPECT_EQ(Node("a").drain().since_ms(), since);
  EXPECT_THAT(Kinds(cluster_.Pass(59'000)), Not(Contains("AttemptYielded")));
  EXPECT_THAT(Kinds(cluster_.Pass(1'000)), Contains("AttemptYielded"));
  EXPECT_TRUE(cluster_.Attempt(job).has_yield());
}

TEST_F(DrainsTest, ARestartedWorkerIsStillDrained) {
  RunJob("job");
  cluster_.Do(DrainWithin("a", kHalfHourMs));
  v1::Hello hello = cluster_.HelloOf("a");
  hello.set_incarnation("another");
  cluster_.Do(AttachWorker{hello});
  EXPECT_TRUE(IsDraining(Node("a")));
  EXPECT_THAT(cluster_.state.draining_nodes, ElementsAre("a"));
}

// The worker sends no heartbeat, so processes of the job may still run on its node.
TEST_F(DrainsTest, ANodeThatHasNotConfirmedIsNotDrained) {
  const int64_t job = RunJob("job");
  cluster_.Do(DrainWithin("a", 0));
  cluster_.StopHeartbeats("a");
  cluster_.Pass(20'000);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STARTING);
  EXPECT_EQ(cluster_.Placement(job), "b:0 b:1");
  EXPECT_TRUE(IsDraining(Node("a")));
}

// Node b lost a rank, and the gang continues on the spare node c.
TEST_F(HealPolicyTest, ANodeThatAHealReplacedIsDrained) {
  Start(1);
  Train(10);
  Kill(2);
  cluster_.Settle();
  Report(11);
  cluster_.Pass(500);
  ASSERT_TRUE(ReplacedNodes(Attempt()).contains("b"));
  cluster_.Do(DrainWithin("b", kHalfHourMs));
  EXPECT_THAT(Kinds(cluster_.Settle()), Not(Contains("NodeDrained"))) << "ranks may still run";
  cluster_.ClearNode(job_, "b");
  EXPECT_THAT(Kinds(cluster_.Settle()), Not(Contains("NodeDrained"))) << "b still reports ranks";
  cluster_.ForgetReport("b", job_);
  EXPECT_THAT(Kinds(cluster_.Pass(500)), Contains("NodeDrained"));
  EXPECT_FALSE(Attempt().has_yield());
}

}  // namespace
}  // namespace trainyard::controller

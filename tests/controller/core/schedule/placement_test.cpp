#include "controller/core/schedule/placement.h"

#include "controller/core/reconcile.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/slots/slot_ledger.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;

TEST(PlacementTest, BestFitLeavesBigNodesForBigGangs) {
  TestCluster cluster;
  cluster.AddNode("a", 8);
  cluster.AddNode("b", 2);
  cluster.AddNode("c", 4);
  const int64_t small = cluster.Submit("small", 1, 2);
  const int64_t middle = cluster.Submit("middle", 1, 3);
  const int64_t big = cluster.Submit("big", 1, 8);
  cluster.Settle();
  EXPECT_EQ(cluster.Placement(small), "b:0 b:1");
  EXPECT_EQ(cluster.Placement(middle), "c:0 c:1 c:2");
  EXPECT_EQ(cluster.Placement(big), "a:0 a:1 a:2 a:3 a:4 a:5 a:6 a:7");
}

TEST(PlacementTest, RanksAreNodeMajor) {
  TestCluster cluster;
  cluster.AddNode("b", 2);
  cluster.AddNode("a", 2);
  const int64_t job = cluster.Submit("job", 2, 2);
  cluster.Settle();
  EXPECT_EQ(cluster.Placement(job), "a:0 a:1 b:0 b:1");
  EXPECT_EQ(cluster.Attempt(job).ranks(3).local_rank(), 1);
  EXPECT_EQ(cluster.Attempt(job).master_address(), cluster.state.nodes.at("a").node.address());
}

TEST(PlacementTest, EachSlotNamesItsRank) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.AddNode("b", 3);
  const int64_t job = cluster.Submit("job", 1, 2);
  cluster.Settle();
  ASSERT_EQ(cluster.Placement(job), "b:0 b:1");
  const v1::Node& node = cluster.state.nodes.at("b").node;
  for (int slot = 0; slot < 2; ++slot) {
    EXPECT_EQ(node.slot_uses(slot).job_id(), job);
    EXPECT_EQ(node.slot_uses(slot).attempt(), 1);
    EXPECT_EQ(node.slot_uses(slot).rank(), slot);
  }
  EXPECT_EQ(node.slot_uses(2).job_id(), 0);
  EXPECT_EQ(cluster.state.free_nodes[v1::DEVICE_KIND_CPU][1], (std::set<std::string>{"a", "b"}));
}

TEST(PlacementTest, GangIsAllOrNothing) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  cluster.AddNode("b", 2);
  const int64_t first = cluster.Submit("first", 1, 1);
  const int64_t gang = cluster.Submit("gang", 2, 2);
  cluster.Settle();
  EXPECT_EQ(cluster.Placement(first), "a:0");
  EXPECT_EQ(cluster.Job(gang).attempts_size(), 0);
}

TEST(PlacementTest, SeveralGangsOfOnePassShareNodesWithoutOverlap) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  cluster.AddNode("b", 3);
  for (const char* name : {"x", "y"}) cluster.Submit(name, 2, 1);
  const int64_t last = cluster.Submit("z", 1, 1);
  cluster.Settle();
  EXPECT_EQ(cluster.Placement(1), "a:0 b:0");
  EXPECT_EQ(cluster.Placement(2), "a:1 b:1");
  EXPECT_EQ(cluster.Placement(last), "b:2");
}

TEST(PlacementTest, KindsOfSlotsAreNotMixed) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  v1::Hello hello = cluster.HelloOf("a");
  hello.mutable_inventory()->mutable_slots(0)->set_kind(v1::DEVICE_KIND_GPU);
  cluster.Do(AttachWorker{hello});
  v1::JobSpec spec = TestSpec("gpu", 1, 1);
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
  const int64_t gpu = cluster.Submit(spec);
  const int64_t cpu = cluster.Submit("cpu", 1, 1);
  cluster.Settle();
  EXPECT_EQ(cluster.Placement(gpu), "a:0");
  EXPECT_EQ(cluster.Placement(cpu), "a:1");
}

TEST(PlacementTest, OnePassPlacesJobsOfBothKindsOnOneNode) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  v1::Hello hello = cluster.HelloOf("a");
  hello.mutable_inventory()->mutable_slots(1)->set_kind(v1::DEVICE_KIND_GPU);
  cluster.Do(AttachWorker{hello});
  v1::JobSpec spec = TestSpec("gpu", 1, 1);
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
  cluster.Submit(spec);
  cluster.Submit("cpu", 1, 1);
  const std::vector<v1::Event> events =
      Reconcile(cluster.state, cluster.observations, cluster.options, cluster.now).events;
  EXPECT_THAT(Kinds(events), ElementsAre("JobPlaced", "JobPlaced"));
}

TEST(PlacementTest, FullerNodesComeFirstAndNoMoreOfTheOthersThanAreMissing) {
  TestCluster cluster;
  for (const char* id : {"a", "b", "c"}) cluster.AddNode(id, 2);
  cluster.AddNode("z", 1);
  const int64_t job = cluster.Submit("job", 2, 1);
  cluster.Settle();
  EXPECT_EQ(cluster.Placement(job), "a:0 z:0");
}

TEST(PlacementTest, OfNodesWithEquallyManySlotsTheLowestIdIsTaken) {
  TestCluster cluster;
  cluster.AddNode("a", 3);
  cluster.AddNode("z", 1);
  cluster.state.nodes.at("a").node.set_name("last");
  cluster.state.nodes.at("z").node.set_name("first");
  const int64_t wide = cluster.Submit("wide", 1, 2);
  const int64_t narrow = cluster.Submit("narrow", 1, 1);
  cluster.Settle();
  ASSERT_EQ(cluster.Placement(wide), "a:0 a:1");
  EXPECT_EQ(cluster.Placement(narrow), "a:2");
}

TEST(PlacementTest, SuspectNodesTakeNothingNew) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.AddNode("b", 1);
  cluster.StopHeartbeats("a");
  cluster.Pass(4000);
  ASSERT_EQ(cluster.NodeStateOf("a"), v1::NODE_STATE_SUSPECT);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.Settle();
  EXPECT_EQ(cluster.Placement(job), "b:0");
}

TEST(PlacementTest, ARecoveringJobWaitsForItsSuspectNode) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.AddNode("b", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  ASSERT_EQ(cluster.Placement(job), "a:0");
  cluster.StopHeartbeats("a");
  cluster.Pass(3500);
  ASSERT_EQ(cluster.NodeStateOf("a"), v1::NODE_STATE_SUSPECT);
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  cluster.Pass(2000);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_RECOVERING) << "b is free";
  cluster.Wake("a");
  cluster.Pass(1000);
  EXPECT_EQ(cluster.Attempt(job).number(), 2);
  EXPECT_EQ(cluster.Placement(job), "a:0");
}

// One gang ran on nodes a and b, and the other gang ran on nodes c and d. Each gang has lost a
// node, has no spare, and reserves the node that the other gang needs.
class TwoBrokenGangsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* id : {"a", "b", "c", "d"}) cluster_.AddNode(id, 1);
    first_ = cluster_.Submit("first", 2, 1);
    second_ = cluster_.Submit("second", 2, 1);
    cluster_.RunJob(first_);
    cluster_.RunJob(second_);
    cluster_.StopHeartbeats("b");
    cluster_.StopHeartbeats("d");
    for (const int64_t job : {first_, second_}) cluster_.ExitRank(job, 0, 1);
    cluster_.Settle();
    cluster_.ClearNode(first_, "a");
    cluster_.ClearNode(second_, "c");
    cluster_.Pass(12000);
  }

  TestCluster cluster_;
  int64_t first_ = 0;
  int64_t second_ = 0;
};

TEST_F(TwoBrokenGangsTest, TheEarlierJobTakesTheReservationOfTheLaterOne) {
  EXPECT_EQ(cluster_.Placement(first_), "a:0 c:0");
  EXPECT_EQ(cluster_.Attempt(first_).number(), 2);
  EXPECT_EQ(cluster_.Attempt(second_).number(), 1);
  EXPECT_EQ(cluster_.StateOf(second_), v1::JOB_STATE_RECOVERING);
}

TEST_F(TwoBrokenGangsTest, ReturnedNodeIsUsedOnlyOnceItIsCleared) {
  cluster_.Wake("b");
  cluster_.Wake("d");
  cluster_.Pass(1000);
  ASSERT_EQ(cluster_.NodeStateOf("d"), v1::NODE_STATE_READY);
  // Ranks of the ended attempts may still be running on b and d.
  EXPECT_THAT(cluster_.Commands(),
              ElementsAre("start a 1/2", "stop b 1/1 3000", "start c 1/2", "stop d 2/1 3000"));
  EXPECT_EQ(cluster_.Attempt(second_).number(), 1);
  cluster_.ClearNode(second_, "d");
  v1::Fact cleared;
  cleared.mutable_attempt_cleared()->set_job_id(first_);
  cleared.mutable_attempt_cleared()->set_attempt(1);
  cluster_.SendFact("b", cleared);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Placement(second_), "b:0 d:0");
}

TEST(PlacementTest, FreeSlotsAreTakenBeforeReservedOnes) {
  TestCluster cluster;
  for (const char* id : {"a", "b", "d"}) cluster.AddNode(id, 2);
  cluster.AddNode("c", 3);
  const int64_t first = cluster.Submit("first", 2, 2);
  const int64_t second = cluster.Submit("second", 2, 2);
  cluster.RunJob(first);
  cluster.RunJob(second);
  ASSERT_EQ(cluster.Placement(second), "c:0 c:1 d:0 d:1");
  cluster.StopHeartbeats("b");
  cluster.StopHeartbeats("d");
  for (const int64_t job : {first, second}) cluster.ExitRank(job, 0, 1);
  cluster.Settle();
  cluster.ClearNode(first, "a");
  cluster.ClearNode(second, "c");
  cluster.Pass(12000);
  EXPECT_EQ(cluster.Placement(first), "a:0 a:1 c:0 c:2");
}

TEST(PlacementTest, ARestartKeepsEachNodeAndSlotThoughOthersAreFree) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  cluster.AddNode("b", 1);
  cluster.AddNode("c", 1);
  const int64_t blocker = cluster.Submit("blocker", 1, 1);
  cluster.RunJob(blocker);
  const int64_t second = cluster.Submit("second", 1, 2);
  cluster.RunJob(second);
  ASSERT_EQ(cluster.Placement(blocker), "b:0");
  const int64_t third = cluster.Submit("third", 1, 1);
  cluster.RunJob(third);
  ASSERT_EQ(cluster.Placement(third), "c:0");
  for (const int64_t job : {blocker, second}) {
    cluster.ExitAll(job, 0);
    cluster.ClearAll(job);
  }
  const int64_t pair = cluster.Submit("pair", 2, 1);
  cluster.RunJob(pair);
  ASSERT_EQ(cluster.Placement(pair), "a:0 b:0");
  const int64_t last = cluster.Submit("last", 1, 1);
  cluster.RunJob(last);
  ASSERT_EQ(cluster.Placement(last), "a:1");
  for (const int64_t job : {pair, third}) {
    cluster.ExitAll(job, job == pair ? 0 : 1);
    cluster.ClearAll(job);
  }
  cluster.ExitAll(last, 1);
  cluster.ClearAll(last);
  cluster.Pass(1000);
  EXPECT_EQ(cluster.Placement(third), "c:0") << "not b, which is free too";
  EXPECT_EQ(cluster.Placement(last), "a:1") << "not a:0, which is free too";
}

TEST(PlacementTest, AJobWhoseSlotIsGoneTakesAFreeOneBeforeAReservedOne) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  const int64_t first = cluster.Submit("first", 1, 1);
  v1::JobSpec patient = TestSpec("second", 1, 1);
  patient.mutable_restart()->mutable_backoff()->set_seconds(60);
  const int64_t second = cluster.Submit(patient);
  for (const int64_t job : {first, second}) cluster.RunJob(job);
  ASSERT_EQ(cluster.Placement(second), "a:1");
  for (const int64_t job : {first, second}) {
    cluster.ExitAll(job, 1);
    cluster.ClearAll(job);
  }
  v1::Hello smaller = cluster.HelloOf("a");
  smaller.mutable_inventory()->mutable_slots()->DeleteSubrange(0, 1);
  cluster.Do(AttachWorker{smaller});
  cluster.AddNode("b", 1);
  cluster.Pass(1000);
  EXPECT_EQ(cluster.Placement(first), "b:0");
}

// A job's shape never changes today. If it did, the nodes of a gang with the old shape must not be
// reused as they are.
TEST(PlacementTest, AGangOfAnotherShapeIsPlacedAnew) {
  TestCluster cluster;
  for (const char* id : {"a", "b", "c", "d"}) cluster.AddNode(id, 2);
  const int64_t blocker = cluster.Submit("blocker", 2, 2);
  cluster.RunJob(blocker);
  const int64_t job = cluster.Submit("job", 2, 1);
  cluster.RunJob(job);
  ASSERT_EQ(cluster.Placement(job), "c:0 d:0");
  cluster.ExitAll(blocker, 0);
  cluster.ClearAll(blocker);
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  v1::JobSpec& spec = *cluster.state.jobs.at(job).job.mutable_spec();
  spec.mutable_resources()->set_slots_per_node(2);
  RebuildIndexes(cluster.state);
  cluster.Pass(1000);
  EXPECT_EQ(cluster.Placement(job), "a:0 a:1 b:0 b:1");
}

TEST(PlacementTest, RecoveringJobWithItsWholeGangNeedNotWaitForTheHead) {
  TestCluster cluster;
  for (const char* id : {"a", "b", "c"}) cluster.AddNode(id, 1);
  const int64_t wide = cluster.Submit("wide", 2, 1);
  const int64_t narrow = cluster.Submit("narrow", 1, 1);
  cluster.RunJob(wide);
  cluster.RunJob(narrow);
  cluster.StopHeartbeats("b");
  cluster.ExitRank(wide, 0, 1);
  cluster.ExitRank(narrow, 0, 1);
  cluster.Settle();
  cluster.ClearNode(wide, "a");
  cluster.ClearNode(narrow, "c");
  cluster.Pass(12000);
  EXPECT_EQ(cluster.StateOf(wide), v1::JOB_STATE_RECOVERING);
  EXPECT_EQ(cluster.Attempt(narrow).number(), 2);
  EXPECT_EQ(cluster.Placement(narrow), "c:0");
}

TEST(PlacementTest, JobInBackoffKeepsItsGangFromABrokenOneBeforeIt) {
  TestCluster cluster;
  for (const char* id : {"a", "b", "c"}) cluster.AddNode(id, 1);
  const int64_t broken = cluster.Submit("broken", 2, 1);
  const int64_t whole = cluster.Submit("whole", 1, 1);
  cluster.RunJob(broken);
  cluster.RunJob(whole);
  cluster.StopHeartbeats("b");
  cluster.ExitRank(broken, 0, 1);
  cluster.Settle();
  cluster.ClearNode(broken, "a");
  cluster.Pass(12000);
  ASSERT_EQ(cluster.StateOf(broken), v1::JOB_STATE_RECOVERING);
  cluster.ExitAll(whole, 1);
  cluster.ClearAll(whole);
  EXPECT_EQ(cluster.StateOf(broken), v1::JOB_STATE_RECOVERING);
  cluster.Pass(1000);
  EXPECT_EQ(cluster.Attempt(whole).number(), 2);
  EXPECT_EQ(cluster.Placement(whole), "c:0");
}

TEST(PlacementTest, JobInBackoffHoldsItsReplacementToo) {
  TestCluster cluster;
  for (const char* id : {"a", "b", "c"}) cluster.AddNode(id, 1);
  v1::JobSpec spec = TestSpec("job", 2, 1);
  spec.mutable_restart()->mutable_backoff()->set_seconds(60);
  const int64_t job = cluster.Submit(spec);
  cluster.RunJob(job);
  cluster.StopHeartbeats("b");
  cluster.ExitRank(job, 0, 1);
  cluster.Settle();
  cluster.ClearNode(job, "a");
  cluster.Pass(12000);
  ASSERT_EQ(cluster.StateOf(job), v1::JOB_STATE_RECOVERING);
  const int64_t next = cluster.Submit("next", 1, 1);
  cluster.Settle();
  EXPECT_EQ(cluster.StateOf(next), v1::JOB_STATE_QUEUED);
  cluster.AddNode("d", 1);
  cluster.Settle();
  EXPECT_EQ(cluster.Placement(next), "d:0") << "the job in its backoff holds up no other";
  cluster.Pass(60000);
  EXPECT_EQ(cluster.Placement(job), "a:0 c:0");
}

TEST(PlacementTest, EmptyClusterShowsWhereRanksWouldGo) {
  TestCluster cluster;
  cluster.AddNode("a", 4);
  cluster.AddNode("b", 2);
  const GangShape pair{2, 2, v1::DEVICE_KIND_CPU};
  const auto gang = PlaceOnEmptyCluster(cluster.state, pair);
  ASSERT_TRUE(gang.has_value());
  EXPECT_EQ(gang->at(0).node_id, "a");
  EXPECT_THAT(gang->at(1).slots, ElementsAre(0, 1));
  EXPECT_FALSE(PlaceOnEmptyCluster(cluster.state, {3, 1, v1::DEVICE_KIND_CPU}).has_value());
}

TEST(PlacementTest, AnEmptyClusterGivesSlotsOfTheKindAskedForOnly) {
  TestCluster cluster;
  cluster.AddNode("a", 4);
  v1::Hello hello = cluster.HelloOf("a");
  for (const int gpu : {1, 3}) {
    hello.mutable_inventory()->mutable_slots(gpu)->set_kind(v1::DEVICE_KIND_GPU);
  }
  cluster.Do(AttachWorker{hello});
  const auto slots = [&](v1::DeviceKind kind, int count) {
    const auto gang = PlaceOnEmptyCluster(cluster.state, {1, count, kind});
    return gang.has_value() ? gang->at(0).slots : std::vector<int>();
  };
  EXPECT_THAT(slots(v1::DEVICE_KIND_CPU, 2), ElementsAre(0, 2));
  EXPECT_THAT(slots(v1::DEVICE_KIND_GPU, 2), ElementsAre(1, 3));
  EXPECT_THAT(slots(v1::DEVICE_KIND_GPU, 1), ElementsAre(1));
  EXPECT_THAT(slots(v1::DEVICE_KIND_GPU, 3), ElementsAre());
}

}  // namespace
}  // namespace trainyard::controller

// Tests the evidence about a node that runs ranks of two different jobs.
#include "controller/core/health/node_evidence.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/health/peer_progress_fixture.h"

namespace trainyard::controller {
namespace {

using ::testing::Contains;

// Adds another job. Its only rank runs on node a, next to rank 0 of the gang.
class NeighbourTest : public PeerProgressTest {
 protected:
  void SetUp() override {
    PeerProgressTest::SetUp();
    v1::Hello bigger = cluster_.HelloOf("a");
    bigger.mutable_inventory()->add_slots()->set_index(1);
    bigger.mutable_inventory()->mutable_slots(1)->set_kind(v1::DEVICE_KIND_CPU);
    *bigger.add_attempts() = cluster_.Report("a", job_);
    cluster_.Do(AttachWorker{bigger});
    neighbour_ = cluster_.Submit("neighbour", 1, 1);
    cluster_.RunJob(neighbour_);
    ASSERT_EQ(cluster_.Placement(neighbour_), "a:1");
    cluster_.AddNode("c", 1);
  }

  int64_t neighbour_ = 0;
};

// The gang fails because its rank on the node has died or lost its peers. The failure proves
// nothing about other jobs there: the node may only be partitioned from the controller.
TEST_F(NeighbourTest, WhatAGangHasLostIsNotLostForOthers) {
  Train(1, 20000);
  cluster_.StopHeartbeats("a");
  cluster_.Pass(9000);
  EXPECT_EQ(cluster_.Attempt(job_).verdict().cause(), v1::VERDICT_CAUSE_NODE_LOST);
  EXPECT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_SUSPECT);
  EXPECT_EQ(cluster_.StateOf(neighbour_), v1::JOB_STATE_RUNNING);
  // The gang can restart on other nodes, because its new attempt fences the ranks still on a.
  cluster_.ClearNode(job_, "b");
  cluster_.Pass(2000);
  EXPECT_EQ(cluster_.Attempt(job_).number(), 2);
  EXPECT_EQ(cluster_.Placement(job_), "c:0 b:0");
  cluster_.Wake("a");
  cluster_.Pass(500);
  EXPECT_THAT(cluster_.Commands(), Contains("stop a 1/1 3000"));
  EXPECT_EQ(cluster_.StateOf(neighbour_), v1::JOB_STATE_RUNNING);
}

TEST_F(NeighbourTest, PeersThatLostARankWaitForAnUnresponsiveNodeNoLongerThanForALostOne) {
  cluster_.StopHeartbeats("a");
  cluster_.ExitRank(job_, 1, 69);
  cluster_.ClearNode(job_, "b");
  cluster_.Pass(7500);
  EXPECT_EQ(cluster_.Attempt(job_).number(), 1);
  cluster_.Pass(1500);
  EXPECT_EQ(cluster_.Attempt(job_).number(), 2);
  EXPECT_EQ(cluster_.StateOf(neighbour_), v1::JOB_STATE_RUNNING);
  // The other job has no peers with progress as evidence that the job runs, so its attempt ends
  // only when the node's lease expires.
  cluster_.Pass(cluster_.options.lease_ms);
  EXPECT_EQ(cluster_.Attempt(neighbour_).verdict().cause(), v1::VERDICT_CAUSE_NODE_LOST);
  EXPECT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_LOST);
}

TEST_F(NeighbourTest, NodeWithAMovingGangMayLackAnother) {
  // A second gang, on a and c, continues to train, so node a is only partitioned from the
  // controller.
  const int64_t gang = cluster_.Submit("gang", 2, 1);
  cluster_.Stop(neighbour_);
  cluster_.ClearAll(neighbour_);
  cluster_.RunJob(gang);
  ASSERT_EQ(cluster_.Placement(gang), "a:1 c:0");
  Train(1, 20000);
  cluster_.StopHeartbeats("a");
  v1::RankReport& moving = *cluster_.Report("c", gang).add_ranks();
  moving.set_rank(1);
  moving.set_running(true);
  for (int64_t step = 1; step < 60; ++step) {
    cluster_.Step(gang, 1, step, 0.5);
    moving.set_step(step);
    cluster_.Pass(500);
  }
  EXPECT_EQ(cluster_.StateOf(gang), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(cluster_.Attempt(job_).verdict().cause(), v1::VERDICT_CAUSE_NODE_LOST);
}

}  // namespace
}  // namespace trainyard::controller

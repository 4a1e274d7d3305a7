// Tests edge cases of the evidence about nodes without heartbeats.
#include "controller/core/health/node_evidence.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A running gang, with rank 0 on node a and rank 1 on node b.
class NodeEvidenceLimitsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* id : {"a", "b"}) cluster_.AddNode(id, 1);
    job_ = cluster_.Submit("job", 2, 1);
    cluster_.RunJob(job_);
  }

  // Starts the controller two leases after the nodes' last heartbeats, with the nodes in `state`.
  void StartControllerLater(v1::NodeState state) {
    for (const char* id : {"a", "b"}) {
      cluster_.state.nodes.at(id).node.set_state(state);
      cluster_.state.nodes.at(id).node.set_last_heartbeat_ms(cluster_.now);
    }
    cluster_.now += 2 * cluster_.options.lease_ms;
    cluster_.observations = Observations{.since_ms = cluster_.now};
  }
  std::map<int64_t, v1::Verdict> VerdictsAfter(int64_t ms) const {
    const Timestamp now = cluster_.now + ms;
    const UnresponsiveNodes unresponsive =
        FindUnresponsiveNodes(cluster_.state, cluster_.observations, cluster_.options, now);
    return VerdictsOnUnresponsiveNodes(cluster_.state, cluster_.observations, cluster_.options,
                                       unresponsive, now);
  }
  // Makes rank 1 stall at the last heartbeat of node a. Before, rank 1 made steady progress.
  void StallRank1() {
    cluster_.now += 100'000;
    const Timestamp stalled_ms = cluster_.now - cluster_.options.lost_after_ms;
    AttemptObservation& attempt = cluster_.observations.attempts[{job_, 1}];
    attempt.step_times = {0.5};
    RankObservation& rank = attempt.ranks[1];
    rank.phase = "train";
    rank.still_since_ms = stalled_ms;
    rank.moving_until_ms = stalled_ms;
    rank.moving_since_ms = stalled_ms - cluster_.options.lost_after_ms;
    cluster_.observations.nodes["a"].last_heartbeat_ms = stalled_ms;
    cluster_.observations.nodes["b"].last_heartbeat_ms = cluster_.now;
    cluster_.observations.nodes["b"].last_report_ms = cluster_.now;
  }
  PeerProgress AboutNodeA() const {
    return PeerProgressOf(cluster_.state, cluster_.observations, cluster_.options,
                          cluster_.state.jobs.at(job_), "a", cluster_.now);
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(NodeEvidenceLimitsTest, ANodeThatWasSuspectBeforeTheStartHasAShortTimeToReturn) {
  StartControllerLater(v1::NODE_STATE_SUSPECT);
  EXPECT_THAT(VerdictsAfter(cluster_.options.return_within_ms - 1), IsEmpty());
  const auto verdicts = VerdictsAfter(cluster_.options.return_within_ms);
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts.at(job_).node_id(), "a") << "the first of two nodes";
  EXPECT_EQ(verdicts.at(job_).summary(),
            "node a was lost: no heartbeat for 20 min, which is longer than the node's lease, and "
            "no rank reported progress within the lease");
}

TEST_F(NodeEvidenceLimitsTest, ANodeThatWasReadyBeforeTheStartHasAWholeLease) {
  StartControllerLater(v1::NODE_STATE_READY);
  EXPECT_THAT(VerdictsAfter(cluster_.options.lease_ms - 1), IsEmpty());
  EXPECT_EQ(VerdictsAfter(cluster_.options.lease_ms).size(), 1u);
}

TEST_F(NodeEvidenceLimitsTest, AFailedRankDoesNotEndTheTraining) {
  StallRank1();
  ASSERT_EQ(AboutNodeA(), PeerProgress::kStalled);
  cluster_.ExitRank(job_, 0, 69);
  EXPECT_EQ(AboutNodeA(), PeerProgress::kStalled);
}

TEST_F(NodeEvidenceLimitsTest, ARankThatExitedShowsNoProgress) {
  StallRank1();
  cluster_.ExitRank(job_, 1, 69);
  EXPECT_EQ(AboutNodeA(), PeerProgress::kUnknown);
}

TEST_F(NodeEvidenceLimitsTest, OnlyTheFirstNodeOfAGangHasLostItsRanks) {
  for (const char* id : {"a", "b"}) cluster_.StopHeartbeats(id);
  std::vector<std::string> reasons;
  for (const v1::Event& event : cluster_.Pass(cluster_.options.lease_ms)) {
    if (event.has_node_lost()) reasons.push_back(event.node_lost().reason());
  }
  EXPECT_EQ(cluster_.Attempt(job_).verdict().node_id(), "a");
  EXPECT_THAT(reasons,
              ElementsAre("no heartbeat for 10 min, and job 1 (job) has lost its ranks on the node",
                          "no heartbeat for 10 min, and no healthy attempt runs on the node"));
}

TEST_F(NodeEvidenceLimitsTest, AHeartbeatOfAnotherNodeDoesNotCount) {
  cluster_.observations = Observations{.since_ms = cluster_.now};
  cluster_.StopHeartbeats("a");
  const std::vector<v1::Event> events = cluster_.Pass(cluster_.options.suspect_after_ms);
  ASSERT_THAT(Kinds(events), ElementsAre("NodeSuspected"));
  EXPECT_EQ(events[0].node_suspected().node_id(), "a");
}

}  // namespace
}  // namespace trainyard::controller

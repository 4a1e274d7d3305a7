// Elastic jobs that give up a part of their nodes and keep the rest.
#include <string>
#include <vector>

#include "controller/core/event_log/snapshot.h"
#include "controller/core/explain/explain.h"
#include "controller/core/schedule/preemption.h"
#include "controller/core/state/attempts/elastic_yield.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/elastic_fixture.h"

namespace trainyard::controller {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ElasticShrinkTest : public ElasticFixture {
 protected:
  void Drain(const std::string& node) {
    CordonNode drain{.request = {}, .principal = {"ada"}};
    drain.request.set_node(node);
    drain.request.set_cordoned(true);
    drain.request.set_drain_after_ms(1);
    drain.request.set_reason("bad fan");
    cluster_.Do(drain);
    cluster_.Pass(500);
  }

  std::vector<std::string> Kept(int64_t job) const {
    const auto& kept = cluster_.Attempt(job).yield().kept_nodes();
    return {kept.begin(), kept.end()};
  }

  std::string Explain(int64_t job) const {
    return ExplainJob(cluster_.View(), cluster_.state.jobs.at(job)).answer();
  }

  void ExpectSnapshotHoldsIt() const {
    const ClusterState copy = FromSnapshot(ToSnapshot(cluster_.state, 0));
    EXPECT_EQ(Bytes(copy), Bytes(cluster_.state));
    EXPECT_EQ(DifferentIndexes(copy, cluster_.state), "");
  }
};

TEST_F(ElasticShrinkTest, ADrainedNodeCostsOnlyThatNode) {
  AddNodes("abcd");
  const int64_t job = Run(ElasticSpec("job", 2, 4));
  const int64_t waits = cluster_.Submit(TestSpec("waits", 2, 1));
  Drain("b");
  EXPECT_THAT(Kept(job), ElementsAre("a", "c", "d"));
  EXPECT_THAT(Explain(job), HasSubstr("then it continues on another number of nodes"));
  ExitYielded(job);
  EXPECT_EQ(cluster_.Placement(job), "a:0 c:0 d:0");
  EXPECT_EQ(cluster_.StateOf(waits), v1::JOB_STATE_QUEUED) << "the job kept its nodes";
  EXPECT_EQ(cluster_.Attempt(job).size_change(),
            "shrunk from 4 to 3 nodes: node b is being drained: bad fan (user ada)");
  EXPECT_EQ(cluster_.Job(job).restarts(), 0);
  EXPECT_THAT(cluster_.state.draining_nodes, IsEmpty());
  ExpectSnapshotHoldsIt();
}

TEST_F(ElasticShrinkTest, AFreeNodeReplacesADrainedOne) {
  AddNodes("abcde");
  const int64_t job = Run(ElasticSpec("job", 2, 4));
  Drain("b");
  ExitYielded(job);
  EXPECT_EQ(cluster_.Placement(job), "a:0 e:0 c:0 d:0");
  EXPECT_EQ(cluster_.Attempt(job).size_change(), "");
}

TEST_F(ElasticShrinkTest, BelowItsMinimumItReturnsToTheQueue) {
  AddNodes("abc");
  const int64_t job = Run(ElasticSpec("job", 3, 4));
  Drain("b");
  EXPECT_THAT(Kept(job), IsEmpty());
  cluster_.ExitAll(job, 143);
  cluster_.ClearAll(job);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_QUEUED);
  EXPECT_TRUE(cluster_.state.reservations.empty());
}

TEST_F(ElasticShrinkTest, APreemptedJobKeepsTheNodesThatTheHeadDoesNotNeed) {
  AddNodes("abcdef");
  const int64_t job = Run(ElasticSpec("job", 2, 6));
  ASSERT_EQ(SizeOf(job), 6);
  v1::JobSpec urgent = TestSpec("urgent", 2, 1);
  urgent.set_priority(1);
  const int64_t head = cluster_.Submit(urgent);
  EXPECT_THAT(Kinds(cluster_.Pass(PreemptionLimits{}.wait_ms + 1000, 1000)),
              Contains("AttemptYielded"));
  EXPECT_EQ(cluster_.Attempt(job).yield().for_job_id(), head);
  const std::vector<std::string> kept = Kept(job);
  EXPECT_EQ(kept.size(), 4U);
  ExitYielded(job);
  EXPECT_EQ(cluster_.StateOf(head), v1::JOB_STATE_STARTING);
  EXPECT_THAT(GangNodes(cluster_.Attempt(job)), ElementsAreArray(kept));
  EXPECT_THAT(cluster_.Attempt(job).size_change(),
              HasSubstr("shrunk from 6 to 4 nodes: urgent (#2) has waited 10 min for 2 nodes"));
  cluster_.StartAll(job);
  EXPECT_THAT(Explain(job), HasSubstr("4 of 2..6 nodes (shrunk from 6 to 4 nodes: urgent (#2)"));
}

TEST_F(ElasticShrinkTest, AGivenUpNodeIsNotKept) {
  AddNodes("ab");
  const int64_t job = Run(ElasticSpec("job", 1, 2));
  Drain("b");
  EXPECT_TRUE(KeepsNode(cluster_.Attempt(job), "a"));
  EXPECT_FALSE(KeepsNode(cluster_.Attempt(job), "b"));
}

TEST_F(ElasticShrinkTest, OnlyElasticJobsKeepNodes) {
  AddNodes("ab");
  const int64_t job = Run(TestSpec("job", 2, 1));
  v1::Yield yield;
  KeepOtherNodes(cluster_.state.jobs.at(job), {"b"}, yield);
  EXPECT_THAT(yield.kept_nodes(), IsEmpty());
  EXPECT_TRUE(KeepsNode(cluster_.Attempt(job), "a"))
      << "without a list, a recovering job keeps all";
}

}  // namespace
}  // namespace trainyard::controller

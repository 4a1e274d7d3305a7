// Placement of gangs in a cluster with a topology.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/explain/preview.h"
#include "controller/core/explain/topology_report.h"
#include "controller/core/schedule/preemption.h"
#include "controller/core/state/nodes/topology.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

v1::JobSpec WithinLeaf(const std::string& name, int nodes, int slots) {
  v1::JobSpec spec = TestSpec(name, nodes, slots);
  spec.mutable_placement()->set_within("leaf");
  return spec;
}

class TopologyTest : public ::testing::Test {
 protected:
  // Two leaves of a spine, with 3 and 2 nodes, and a leaf with 4 nodes of another spine. The nodes
  // of a leaf have no common prefix, so that the order of their names hides nothing.
  TopologyTest() {
    for (const char* id : {"a", "b", "c", "d", "e", "f", "g", "h", "i"}) cluster_.AddNode(id, 2);
    AddGroup("spine1", "spine", "leaf[1-2]", "");
    AddGroup("leaf1", "leaf", "", "a,d,g");
    AddGroup("leaf2", "leaf", "", "b,e");
    AddGroup("spine2", "spine", "leaf3", "");
    AddGroup("leaf3", "leaf", "", "c,f,h,i,absent");
    cluster_.Do(set_);
  }

  void AddGroup(const std::string& name, const std::string& level, const std::string& groups,
                const std::string& nodes) {
    v1::TopologyGroup& group = *set_.request.mutable_topology()->add_groups();
    group.set_name(name);
    group.set_level(level);
    if (!groups.empty()) group.add_groups(groups);
    if (!nodes.empty()) group.add_nodes(nodes);
  }

  // Returns the nodes of the job's newest attempt in the order of their ranks, such as "a d".
  std::string NodesOf(int64_t job) const {
    std::string text;
    for (const std::string& node : GangNodes(cluster_.Attempt(job))) {
      absl::StrAppend(&text, text.empty() ? "" : " ", node);
    }
    return text;
  }
  std::string ErrorOf(const v1::JobSpec& spec) const {
    v1::SubmitJobRequest request;
    *request.mutable_spec() = spec;
    return std::string(cluster_.Try(Checked(request)).message());
  }
  std::string Why(int64_t job) {
    return WhyPending(cluster_.View(), cluster_.state.jobs.at(job)).message();
  }

  TestCluster cluster_;
  SetTopology set_{.request = {}, .principal = {"ada"}};
};

TEST_F(TopologyTest, AGangGetsTheSmallestGroupThatHoldsIt) {
  const int64_t two = cluster_.Submit("two", 2, 2);
  const int64_t three = cluster_.Submit("three", 3, 2);
  const int64_t four = cluster_.Submit("four", 4, 2);
  cluster_.Settle();
  EXPECT_EQ(NodesOf(two), "b e");
  EXPECT_EQ(NodesOf(three), "a d g");
  EXPECT_EQ(NodesOf(four), "c f h i");
}

TEST_F(TopologyTest, RanksFollowTheTree) {
  const int64_t all = cluster_.Submit("all", 9, 2);
  cluster_.Settle();
  EXPECT_EQ(NodesOf(all), "a d g b e c f h i");
}

TEST_F(TopologyTest, ALevelIsRequired) {
  cluster_.RunJob(cluster_.Submit("filler", 3, 2));
  const int64_t job = cluster_.Submit(WithinLeaf("job", 3, 1));
  cluster_.Settle();
  EXPECT_EQ(NodesOf(job), "c f h");
  const int64_t next = cluster_.Submit(WithinLeaf("next", 3, 2));
  cluster_.Settle();
  ASSERT_EQ(cluster_.StateOf(next), v1::JOB_STATE_QUEUED) << "3 nodes are free, but in two leaves";
  EXPECT_THAT(Why(next), HasSubstr("needs 3 nodes with 2 cpu slots each; all nodes must be in one "
                                   "group of the level leaf; `placement` allows 9 of 9 nodes; the "
                                   "largest free group, leaf2, has 2 nodes with enough available "
                                   "slots"));
}

TEST_F(TopologyTest, AJobThatNoGroupHoldsIsRefused) {
  EXPECT_THAT(
      ErrorOf(WithinLeaf("job", 5, 1)),
      HasSubstr("the job needs 5 nodes with 1 cpu slot each, but `placement` allows 9 of 9 "
                "nodes in groups of the level leaf, and the largest gang that fits these is "
                "4 nodes with 2 cpu slots each in one group"));
  v1::JobSpec rack = TestSpec("job", 1, 1);
  rack.mutable_placement()->set_within("rack");
  EXPECT_THAT(ErrorOf(rack), HasSubstr("the topology has only the levels spine, leaf"));
  cluster_.Do(SetTopology{.request = {}, .principal = {"ada"}});
  EXPECT_THAT(ErrorOf(rack), HasSubstr("this cluster has no topology"));
}

TEST_F(TopologyTest, AHeadIsPromisedOneGroup) {
  // Leaf 3 is free in 10 s, and all other nodes never.
  v1::JobSpec soon = WithinLeaf("soon", 4, 2);
  soon.mutable_time_limit()->set_seconds(10);
  soon.mutable_stop_grace()->set_seconds(0);
  cluster_.RunJob(cluster_.Submit(soon));
  cluster_.RunJob(cluster_.Submit("running", 4, 2));
  ASSERT_EQ(NodesOf(1), "c f h i");
  ASSERT_EQ(NodesOf(2), "a d g b");
  const int64_t head = cluster_.Submit(WithinLeaf("head", 4, 2));
  // The last free node is in no group that could hold the head.
  const int64_t later = cluster_.Submit("later", 1, 2);
  const Schedule schedule = cluster_.View().schedule;
  EXPECT_EQ(schedule.heads.at(v1::DEVICE_KIND_CPU).job_id, head);
  EXPECT_LE(schedule.heads.at(v1::DEVICE_KIND_CPU).promised, cluster_.now + 10'000);
  cluster_.Settle();
  EXPECT_EQ(NodesOf(later), "e");
}

TEST_F(TopologyTest, PreemptionFreesOneGroup) {
  std::vector<int64_t> low;
  for (int i = 0; i < 9; ++i) {
    low.push_back(cluster_.Submit(absl::StrCat("low-", i), 1, 2));
    cluster_.RunJob(low.back());
  }
  v1::JobSpec head = WithinLeaf("head", 3, 2);
  head.set_priority(1);
  const int64_t waiting = cluster_.Submit(head);
  EXPECT_THAT(Kinds(cluster_.Pass(PreemptionLimits{}.wait_ms + 2000, 1000)),
              ElementsAre("AttemptYielded", "AttemptYielded", "AttemptYielded"));
  for (const int64_t job : low) {
    if (!cluster_.Attempt(job).has_yield()) continue;
    cluster_.ExitAll(job, 143);
    cluster_.ClearAll(job);
  }
  EXPECT_EQ(NodesOf(waiting), "a d g");
}

TEST_F(TopologyTest, AReplacementIsCloseToTheGang) {
  const int64_t job = cluster_.Submit("job", 2, 2);
  cluster_.RunJob(job);
  ASSERT_EQ(NodesOf(job), "b e");
  cluster_.StopHeartbeats("e");
  cluster_.Pass(60'000);
  cluster_.ClearNode(job, "b");
  cluster_.Pass(10'000);
  EXPECT_EQ(NodesOf(job), "b a") << "the same spine";
}

TEST_F(TopologyTest, ARunningGangStaysWhenTheTopologyChanges) {
  const int64_t job = cluster_.Submit(WithinLeaf("job", 2, 2));
  cluster_.RunJob(job);
  EXPECT_THAT(DividedGangs(cluster_.state), IsEmpty());
  v1::Topology& topology = *set_.request.mutable_topology();
  topology.mutable_groups(2)->set_nodes(0, "b");
  topology.mutable_groups(1)->set_nodes(0, "a,d,g,e");
  EXPECT_THAT(Kinds(cluster_.Do(set_)), ElementsAre("TopologySet"));
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_RUNNING);
  EXPECT_THAT(DividedGangs(cluster_.state),
              ElementsAre(HasSubstr("requires one group of the level leaf")));
}

TEST_F(TopologyTest, ATopologyIsCheckedAndStored) {
  EXPECT_THAT(cluster_.Do(set_), IsEmpty()) << "the same topology";
  const ClusterState restored = FromSnapshot(ToSnapshot(cluster_.state, 1));
  EXPECT_EQ(Bytes(restored), Bytes(cluster_.state));
  EXPECT_THAT(GroupNames(restored, restored.nodes.at("d").node), ElementsAre("spine1", "leaf1"));
  AddGroup("leaf4", "leaf", "", "a");
  EXPECT_THAT(std::string(cluster_.Try(set_).message()),
              HasSubstr("in two groups, leaf1 and leaf4"));
}

TEST_F(TopologyTest, TheReportCountsNodes) {
  cluster_.AddNode("z", 2);
  cluster_.RunJob(cluster_.Submit("job", 2, 2));
  const v1::GetTopologyResponse report = TopologyReport(cluster_.View());
  EXPECT_THAT(report.levels(), ElementsAre("spine", "leaf"));
  ASSERT_EQ(report.groups_size(), 5);
  EXPECT_EQ(report.groups(0).name(), "spine1");
  EXPECT_EQ(report.groups(0).nodes(), 5);
  EXPECT_EQ(report.groups(0).idle_nodes(), 3);
  EXPECT_EQ(report.groups(2).name(), "leaf2");
  EXPECT_EQ(report.groups(2).parent(), "spine1");
  EXPECT_EQ(report.groups(2).open_nodes(), 2);
  EXPECT_EQ(report.groups(2).idle_nodes(), 0);
  EXPECT_THAT(report.absent_nodes(), ElementsAre("absent"));
  EXPECT_THAT(report.other_nodes(), ElementsAre("z"));
}

TEST_F(TopologyTest, PlanShowsOneGroup) {
  cluster_.RunJob(cluster_.Submit("running", 9, 2));
  const auto plan = PreviewJob(cluster_.View(), WithinLeaf("job", 3, 1), nullptr, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->ranks(0).node_id(), "a");
  EXPECT_EQ(plan->ranks(1).node_id(), "d");
  EXPECT_EQ(plan->ranks(2).node_id(), "g");
}

}  // namespace
}  // namespace trainyard::controller

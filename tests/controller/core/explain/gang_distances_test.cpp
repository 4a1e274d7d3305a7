#include "controller/core/explain/gang_distances.h"

#include <string>
#include <vector>

#include "controller/core/explain/preview.h"
#include "controller/core/schedule/layout_choice.h"
#include "gtest/gtest.h"
#include "proto/jobspec/defaults.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

class GangDistancesTest : public ::testing::Test {
 protected:
  // A spine with two leaves of two nodes each. The names hide the order of the tree.
  GangDistancesTest() {
    for (const char* id : {"a", "b", "c", "d"}) cluster_.AddGpuNode(id, 8, "NVIDIA H100");
    AddGroup("spine1", "spine", "leaf[1-2]", "");
    AddGroup("leaf1", "leaf", "", "a,d");
    AddGroup("leaf2", "leaf", "", "b,c");
  }

  void AddGroup(const std::string& name, const std::string& level, const std::string& groups,
                const std::string& nodes) {
    v1::TopologyGroup& group = *set_.request.mutable_topology()->add_groups();
    group.set_name(name);
    group.set_level(level);
    if (!groups.empty()) group.add_groups(groups);
    if (!nodes.empty()) group.add_nodes(nodes);
  }

  void SetTopologyWithSpine(double bandwidth) {
    set_.request.mutable_topology()->clear_levels();
    v1::TopologyLevel& spine = *set_.request.mutable_topology()->add_levels();
    spine.set_name("spine");
    spine.set_gpu_bandwidth(bandwidth);
    cluster_.Do(set_);
  }

  static v1::JobSpec OnGpus(v1::JobSpec spec) {
    spec.mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
    spec.mutable_model()->set_num_attention_heads(8);
    return spec;
  }
  // Tensor parallelism fills a node.
  static v1::JobSpec TrainingSpec(int nodes) {
    v1::JobSpec spec = OnGpus(SparesSpec("job", nodes, 8, 0));
    spec.mutable_layout()->set_tp(8);
    return spec;
  }

  v1::PlanJobResponse Plan(const v1::JobSpec& spec) {
    const auto plan = PreviewJob(cluster_.View(), spec);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *plan : v1::PlanJobResponse();
  }

  TestCluster cluster_;
  SetTopology set_{.request = {}, .principal = {"ada"}};
};

// Eight rings of the data-parallel groups leave each leaf, which has 16 GPUs.
TEST_F(GangDistancesTest, AreThoseOfTheNodesOfThePlan) {
  SetTopologyWithSpine(12.5e9);
  const v1::PlanJobResponse plan = Plan(TrainingSpec(4));
  EXPECT_EQ(plan.ranks(8).node_id(), "d") << "ranks follow the tree";
  ASSERT_EQ(plan.axis_distances_size(), 2);
  EXPECT_EQ(plan.axis_distances(0).axis(), "tp");
  EXPECT_EQ(plan.axis_distances(0).crossed_level(), "");
  EXPECT_EQ(plan.axis_distances(0).limit(), "NVLink 4");
  const v1::AxisDistance& data = plan.axis_distances(1);
  EXPECT_EQ(data.axis(), "dp");
  EXPECT_EQ(data.ranks(), 4);
  EXPECT_EQ(data.crossed_level(), "spine");
  EXPECT_EQ(data.limit(), "spine");
  EXPECT_EQ(data.bytes_per_second(), 2 * 12.5e9);
  EXPECT_FALSE(data.is_assumed());
}

TEST_F(GangDistancesTest, ASlowerLevelMakesThePredictedStepLonger) {
  SetTopologyWithSpine(50e9);
  const double fast = Plan(TrainingSpec(4)).step_seconds();
  SetTopologyWithSpine(1e6);
  const double slow = Plan(TrainingSpec(4)).step_seconds();
  EXPECT_GT(fast, 0);
  EXPECT_GT(slow, 1.2 * fast);
  const v1::PlanJobResponse near = Plan(TrainingSpec(2));
  EXPECT_EQ(near.axis_distances(1).crossed_level(), "leaf") << "two nodes are in one leaf";
}

// Another job uses all nodes. A plan by name would use a and b, which are in different leaves.
TEST_F(GangDistancesTest, AJobThatWaitsIsPlannedOnCloseNodes) {
  SetTopologyWithSpine(12.5e9);
  v1::SubmitJobRequest request;
  *request.mutable_spec() = TestSpec("filler", 4, 8);
  request.mutable_spec()->mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
  cluster_.Do(Checked(request));
  cluster_.Settle();
  const v1::PlanJobResponse plan = Plan(TrainingSpec(2));
  EXPECT_FALSE(plan.starts_now());
  ASSERT_EQ(plan.axis_distances_size(), 2);
  EXPECT_EQ(plan.axis_distances(1).crossed_level(), "leaf");
}

// If the leaves are far from each other, the planner avoids traffic between them.
TEST_F(GangDistancesTest, AChosenLayoutDependsOnTheTopology) {
  v1::JobSpec spec = OnGpus(AutoSpec("auto", 4, 8));
  Origins origins;
  FillDefaults(spec, origins);
  const LayoutQuestion question{0, GangRequestOf(spec).Full(), "NVIDIA H100"};
  const v1::GrantedLayout anywhere = ChooseLayoutFor(spec, question);
  EXPECT_EQ(NodesFor(cluster_.state, spec, question).topology, nullptr);
  SetTopologyWithSpine(1e6);
  const LayoutNodes nodes = NodesFor(cluster_.state, spec, question);
  EXPECT_EQ(nodes.names, (std::vector<std::string>{"a", "d", "b", "c"}));
  const v1::GrantedLayout far = ChooseLayoutFor(spec, question, nodes);
  ASSERT_EQ(anywhere.nodes(), 4);
  ASSERT_EQ(far.nodes(), 4);
  EXPECT_GT(far.step_seconds(), 1.2 * anywhere.step_seconds());
  // A smaller gang uses the first nodes, which are in one leaf.
  const v1::GrantedLayout near =
      ChooseLayoutFor(spec, {0, GangRequestOf(spec).ShapeOn(2), "NVIDIA H100"}, nodes);
  EXPECT_LT(near.step_seconds(), far.step_seconds());
}

TEST_F(GangDistancesTest, AreMissingWithoutATopologyOrSeveralNodes) {
  EXPECT_EQ(Plan(TrainingSpec(4)).axis_distances_size(), 0);
  SetTopologyWithSpine(12.5e9);
  EXPECT_EQ(Plan(TrainingSpec(1)).axis_distances_size(), 0);
  v1::JobSpec command = TestSpec("job", 4, 8);
  command.mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
  EXPECT_EQ(Plan(command).axis_distances_size(), 0) << "runs its own program";
  const v1::PlanJobResponse undecided = Plan(OnGpus(AutoSpec("job", 4, 8)));
  EXPECT_EQ(undecided.axis_distances_size(), 0) << "the layout is not chosen yet";
  EXPECT_FALSE(undecided.has_step_seconds());
}

TEST_F(GangDistancesTest, AChosenLayoutIsUsed) {
  SetTopologyWithSpine(12.5e9);
  v1::GrantedLayout layout;
  layout.set_asked_nodes(4);
  layout.set_nodes(4);
  layout.set_slots_per_node(8);
  layout.set_device("NVIDIA H100");
  layout.mutable_layout()->set_tp(4);
  layout.mutable_layout()->set_pp(2);
  layout.mutable_layout()->set_dp(4);
  layout.mutable_layout()->set_micro_batch(1);
  const auto plan = PreviewJob(cluster_.View(), OnGpus(AutoSpec("job", 4, 8)), &layout);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->axis_distances_size(), 3);
  EXPECT_EQ(plan->axis_distances(1).crossed_level(), "leaf") << "each stage is in one leaf";
  EXPECT_EQ(plan->axis_distances(2).axis(), "pp");
  EXPECT_EQ(plan->axis_distances(2).crossed_level(), "spine");
  EXPECT_GT(plan->step_seconds(), 0);
}

}  // namespace
}  // namespace trainyard::controller

#include "controller/core/state/topology_index.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void AddGroup(v1::Topology& topology, const std::string& name, const std::string& level,
              const std::string& groups, const std::string& nodes) {
  v1::TopologyGroup& group = *topology.add_groups();
  group.set_name(name);
  group.set_level(level);
  if (!groups.empty()) group.add_groups(groups);
  if (!nodes.empty()) group.add_nodes(nodes);
}

std::string ErrorOf(const v1::Topology& topology) {
  return std::string(TopologyIndex::Make(topology).status().message());
}

TEST(TopologyIndexTest, FindsTheGroupsOfANodeInAnIrregularTree) {
  v1::Topology topology;
  AddGroup(topology, "leaf1", "leaf", "", "gpu[01-02]");
  AddGroup(topology, "spine1", "spine", "leaf1,block1", "gpu09");
  AddGroup(topology, "block1", "block", "leaf2", "");
  AddGroup(topology, "leaf2", "leaf", "", "gpu[03-04]");
  const auto made = TopologyIndex::Make(topology);
  ASSERT_TRUE(made.ok()) << made.status();
  const TopologyIndex& index = **made;
  const auto names = [&](const std::string& node) {
    std::vector<std::string> groups;
    for (const int group : index.PathOf(node)) groups.push_back(index.groups()[group].name);
    return groups;
  };
  EXPECT_THAT(names("gpu02"), ElementsAre("spine1", "leaf1"));
  EXPECT_THAT(names("gpu03"), ElementsAre("spine1", "block1", "leaf2"));
  EXPECT_THAT(names("gpu09"), ElementsAre("spine1"));
  EXPECT_THAT(names("gpu10"), IsEmpty());
  EXPECT_EQ(index.GroupAt("gpu01", "leaf"), index.GroupAt("gpu02", "leaf"));
  EXPECT_NE(index.GroupAt("gpu01", "leaf"), index.GroupAt("gpu03", "leaf"));
  EXPECT_EQ(index.GroupAt("gpu01", "block"), -1);
  EXPECT_THAT(index.levels(), ElementsAre("spine", "block", "leaf"));
  EXPECT_TRUE(index.HasLevel("block"));
  EXPECT_FALSE(index.HasLevel("rack"));
  EXPECT_TRUE((*TopologyIndex::Make({}))->empty());
}

TEST(TopologyIndexTest, RejectsTwoParents) {
  v1::Topology nodes;
  AddGroup(nodes, "leaf1", "leaf", "", "gpu[01-02]");
  AddGroup(nodes, "leaf2", "leaf", "", "gpu[02-03]");
  EXPECT_THAT(ErrorOf(nodes), HasSubstr("the node gpu02 is in two groups, leaf1 and leaf2"));
  v1::Topology groups;
  AddGroup(groups, "leaf1", "leaf", "", "gpu01");
  AddGroup(groups, "spine1", "spine", "leaf1", "");
  AddGroup(groups, "spine2", "spine", "leaf1", "");
  EXPECT_THAT(ErrorOf(groups), HasSubstr("the group leaf1 is in two groups, spine1 and spine2"));
}

TEST(TopologyIndexTest, RejectsCyclesAndUnknownGroups) {
  v1::Topology cycle;
  AddGroup(cycle, "root", "root", "", "");
  AddGroup(cycle, "a", "one", "b", "");
  AddGroup(cycle, "b", "two", "a", "");
  EXPECT_THAT(ErrorOf(cycle), HasSubstr("the group a is above itself"));
  v1::Topology unknown;
  AddGroup(unknown, "a", "one", "c", "");
  EXPECT_THAT(ErrorOf(unknown), HasSubstr("the group a contains c, but no group has this name"));
}

TEST(TopologyIndexTest, RejectsLevelsWithoutAnOrder) {
  v1::Topology same;
  AddGroup(same, "a", "leaf", "b", "");
  AddGroup(same, "b", "leaf", "", "");
  EXPECT_THAT(ErrorOf(same), HasSubstr("have the same level leaf"));
  v1::Topology both;
  AddGroup(both, "a", "leaf", "b", "");
  AddGroup(both, "b", "spine", "", "");
  AddGroup(both, "c", "spine", "d", "");
  AddGroup(both, "d", "leaf", "", "");
  EXPECT_THAT(ErrorOf(both), HasSubstr("both above and below groups of another level"));
}

TEST(TopologyIndexTest, RejectsInvalidNamesAndBounds) {
  v1::Topology name;
  AddGroup(name, "a b", "leaf", "", "");
  EXPECT_THAT(ErrorOf(name), HasSubstr("the name `a b` of a group needs"));
  v1::Topology level;
  AddGroup(level, "a", "", "", "");
  EXPECT_THAT(ErrorOf(level), HasSubstr("the name `` of a level needs"));
  v1::Topology twice;
  AddGroup(twice, "a", "leaf", "", "");
  AddGroup(twice, "a", "leaf", "", "");
  EXPECT_THAT(ErrorOf(twice), HasSubstr("two groups are called a"));
  v1::Topology range;
  AddGroup(range, "a", "leaf", "", "gpu[3-1]");
  EXPECT_THAT(ErrorOf(range), HasSubstr("ascending range"));
  v1::Topology many;
  for (std::size_t i = 0; i <= kMaxGroups; ++i)
    AddGroup(many, absl::StrCat("g", i), "leaf", "", "");
  EXPECT_THAT(ErrorOf(many), HasSubstr("5001 groups; at most 5000"));
  v1::Topology deep;
  for (std::size_t i = 0; i <= kMaxLevels; ++i) {
    AddGroup(deep, absl::StrCat("g", i), absl::StrCat("level", i),
             i == kMaxLevels ? "" : absl::StrCat("g", i + 1), "");
  }
  EXPECT_THAT(ErrorOf(deep), HasSubstr("9 levels; at most 8"));
  v1::Topology nodes;
  AddGroup(nodes, "a", "leaf", "", "x[1-15000]");
  AddGroup(nodes, "b", "leaf", "", "y[1-15000]");
  EXPECT_THAT(ErrorOf(nodes), HasSubstr("more than 20000 nodes"));
}

v1::TopologyLevel& AddLevel(v1::Topology& topology, const std::string& name, double bandwidth) {
  v1::TopologyLevel& level = *topology.add_levels();
  level.set_name(name);
  level.set_gpu_bandwidth(bandwidth);
  return level;
}

TEST(TopologyIndexTest, KeepsTheFiguresOfLevelsInTheirOrder) {
  v1::Topology topology;
  AddGroup(topology, "leaf1", "leaf", "", "gpu01");
  AddGroup(topology, "spine1", "spine", "leaf1", "");
  AddLevel(topology, "leaf", 50e9).set_latency_seconds(5e-6);
  const auto made = TopologyIndex::Make(topology);
  ASSERT_TRUE(made.ok()) << made.status();
  const std::vector<v1::TopologyLevel>& figures = (*made)->level_figures();
  ASSERT_EQ(figures.size(), 2);
  EXPECT_EQ(figures[0].name(), "spine");
  EXPECT_EQ(figures[0].gpu_bandwidth(), 0);
  EXPECT_EQ(figures[1].name(), "leaf");
  EXPECT_EQ(figures[1].gpu_bandwidth(), 50e9);
  EXPECT_EQ(figures[1].latency_seconds(), 5e-6);
}

TEST(TopologyIndexTest, RejectsFiguresOfLevels) {
  const auto error_with = [](const std::string& level, double bandwidth, double latency) {
    v1::Topology topology;
    AddGroup(topology, "leaf1", "leaf", "", "gpu01");
    AddLevel(topology, level, bandwidth).set_latency_seconds(latency);
    return ErrorOf(topology);
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(error_with("leaf", 1e6, 1), "");
  EXPECT_THAT(error_with("rack", 1e9, 0), HasSubstr("rack, but no group has this level"));
  EXPECT_THAT(error_with("", 1e9, 0), HasSubstr("the name `` of a level needs"));
  EXPECT_THAT(error_with("leaf", 50, 0), HasSubstr("50 bytes per second; give a value from 1e6"));
  EXPECT_THAT(error_with("leaf", -1e9, 0), HasSubstr("give a value from 1e6 to 1e13"));
  EXPECT_THAT(error_with("leaf", 1e14, 0), HasSubstr("give a value from 1e6 to 1e13"));
  EXPECT_THAT(error_with("leaf", kNan, 0), HasSubstr("give a value from 1e6 to 1e13"));
  EXPECT_THAT(error_with("leaf", 1e9, 12), HasSubstr("a latency of 12 s; give a value from 0"));
  EXPECT_THAT(error_with("leaf", 1e9, kNan), HasSubstr("give a value from 0 to 1"));
  v1::Topology twice;
  AddGroup(twice, "leaf1", "leaf", "", "gpu01");
  AddLevel(twice, "leaf", 1e9);
  AddLevel(twice, "leaf", 1e9);
  EXPECT_THAT(ErrorOf(twice), HasSubstr("figures of the level leaf twice"));
}

}  // namespace
}  // namespace trainyard::controller

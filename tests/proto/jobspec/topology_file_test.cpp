#include "proto/jobspec/topology_file.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string TopologyErrorOf(const std::string& text) {
  return std::string(ParseTopology(text).status().message());
}

TEST(TopologyFileTest, ReadsGroupsWithNamesAndLists) {
  const auto topology = ParseTopology(
      "groups:\n"
      "  - {name: spine1, level: spine, groups: \"leaf[1-2]\"}\n"
      "  - name: leaf1\n"
      "    level: leaf\n"
      "    nodes: [\"gpu[01-16]\", gpu40]\n");
  ASSERT_TRUE(topology.ok()) << topology.status();
  ASSERT_EQ(topology->groups_size(), 2);
  EXPECT_EQ(topology->groups(0).name(), "spine1");
  EXPECT_EQ(topology->groups(0).level(), "spine");
  EXPECT_THAT(topology->groups(0).groups(), ElementsAre("leaf[1-2]"));
  EXPECT_THAT(topology->groups(1).nodes(), ElementsAre("gpu[01-16]", "gpu40"));
  EXPECT_EQ(ParseTopology("groups: []")->groups_size(), 0);
}

TEST(TopologyFileTest, ReadsFiguresOfLevels) {
  const auto topology = ParseTopology(
      "groups: [{name: leaf1, level: leaf, nodes: a}]\n"
      "levels:\n"
      "  - {name: leaf, gpu_bandwidth: 50e9, latency_seconds: 5e-6}\n"
      "  - {name: spine}\n");
  ASSERT_TRUE(topology.ok()) << topology.status();
  ASSERT_EQ(topology->levels_size(), 2);
  EXPECT_EQ(topology->levels(0).name(), "leaf");
  EXPECT_EQ(topology->levels(0).gpu_bandwidth(), 50e9);
  EXPECT_EQ(topology->levels(0).latency_seconds(), 5e-6);
  EXPECT_EQ(topology->levels(1).gpu_bandwidth(), 0);
  const std::string groups = "groups: []\nlevels:";
  EXPECT_THAT(TopologyErrorOf(groups + " 3"), HasSubstr("line 2: `levels` is not a list"));
  EXPECT_THAT(TopologyErrorOf(groups + "\n- 7"), HasSubstr("line 3: a level is not a mapping"));
  EXPECT_THAT(TopologyErrorOf(groups + "\n- {speed: 1}"),
              HasSubstr("unknown key of a level: `speed`"));
  EXPECT_THAT(TopologyErrorOf(groups + "\n- {gpu_bandwidth: 50 GB}"),
              HasSubstr("line 3: `gpu_bandwidth` is not a number"));
  EXPECT_THAT(TopologyErrorOf(groups + "\n- {latency_seconds: [1]}"),
              HasSubstr("`latency_seconds` is not a number"));
}

TEST(TopologyFileTest, NamesTheLineOfAnError) {
  EXPECT_THAT(TopologyErrorOf("- a"), HasSubstr("line 1: the key `groups` is missing"));
  EXPECT_THAT(TopologyErrorOf("levels: []"), HasSubstr("the key `groups` is missing"));
  EXPECT_THAT(TopologyErrorOf("groups: []\nnodes: []"), HasSubstr("line 2: unknown key `nodes`"));
  EXPECT_THAT(TopologyErrorOf("groups: 3"), HasSubstr("`groups` is not a list"));
  EXPECT_THAT(TopologyErrorOf("groups:\n- 7"), HasSubstr("line 2: a group is not a mapping"));
  EXPECT_THAT(TopologyErrorOf("groups:\n- {parent: x}"),
              HasSubstr("line 2: unknown key of a group: `parent`"));
  EXPECT_THAT(TopologyErrorOf("groups:\n- {name: [a]}"), HasSubstr("line 2: `name` is not text"));
  EXPECT_THAT(TopologyErrorOf("groups: []\nlevels:\n- {name: [a]}"),
              HasSubstr("line 3: `name` is not text"));
  EXPECT_THAT(TopologyErrorOf("groups:\n- {nodes: {a: b}}"), HasSubstr("`nodes` is not a list"));
  EXPECT_THAT(TopologyErrorOf("groups:\n- {nodes: [[a]]}"),
              HasSubstr("an entry of `nodes` is not a name"));
  EXPECT_THAT(TopologyErrorOf("groups: ["), HasSubstr("not valid YAML"));
  EXPECT_THAT(TopologyErrorOf("groups: []\n---\ngroups: []"), HasSubstr("several YAML documents"));
  EXPECT_THAT(TopologyErrorOf(""), HasSubstr("the key `groups` is missing"));
}

TEST(TopologyFileTest, BoundsTheTextAndItsAliases) {
  EXPECT_THAT(TopologyErrorOf(std::string(kMaxTopologyFileBytes + 1, '#')),
              HasSubstr("at most 1 MiB"));
  const std::string name(kMaxTopologyFileBytes / 4, 'n');
  const std::string twice = absl::StrCat("groups: [{nodes: [&n ", name, ", *n]}]");
  EXPECT_TRUE(ParseTopology(twice).ok()) << TopologyErrorOf(twice);
  const std::string often = absl::StrCat("groups: [{nodes: [&n ", name, ", *n, *n, *n, *n]}]");
  EXPECT_THAT(TopologyErrorOf(often), HasSubstr("with its aliases, the file exceeds 1 MiB"));
  const std::string group = absl::StrCat("groups: [&g {name: ", name, "}, *g, *g, *g, *g]");
  EXPECT_THAT(TopologyErrorOf(group), HasSubstr("with its aliases, the file exceeds 1 MiB"));
}

}  // namespace
}  // namespace trainyard

#include "controller/core/schedule/gang_network.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

const planner::Link kNetwork = {"test", 50e9, 8e-6};

// Two leaves below a spine, of which only the spine has figures, and a node directly below it.
std::shared_ptr<const TopologyIndex> UnevenTopology() {
  v1::Topology topology;
  const auto add = [&](const char* name, const char* level, const char* groups, const char* nodes) {
    v1::TopologyGroup& group = *topology.add_groups();
    group.set_name(name);
    group.set_level(level);
    if (*groups != 0) group.add_groups(groups);
    if (*nodes != 0) group.add_nodes(nodes);
  };
  add("spine1", "spine", "leaf[1-2]", "e");
  add("leaf1", "leaf", "", "a,b");
  add("leaf2", "leaf", "", "c");
  v1::TopologyLevel& spine = *topology.add_levels();
  spine.set_name("spine");
  spine.set_gpu_bandwidth(12.5e9);
  spine.set_latency_seconds(20e-6);
  return *TopologyIndex::Make(topology);
}

TEST(GangNetworkTest, LevelsWithoutFiguresHaveThoseOfTheNetwork) {
  const auto tree = NetworkOf(*UnevenTopology(), {"a", "b"}, 8, kNetwork);
  ASSERT_NE(tree, nullptr);
  ASSERT_EQ(tree->levels().size(), 3);
  const auto expect = [&](std::size_t level, const std::string& name, double bandwidth,
                          double latency, bool is_specified) {
    EXPECT_EQ(tree->levels()[level].name, name);
    EXPECT_EQ(tree->levels()[level].bandwidth, bandwidth) << name;
    EXPECT_EQ(tree->levels()[level].latency, latency) << name;
    EXPECT_EQ(tree->levels()[level].is_specified, is_specified) << name;
  };
  expect(0, kOutsideLevel, 12.5e9, 20e-6, false);
  expect(1, "spine", 12.5e9, 20e-6, true);
  expect(2, "leaf", 50e9, 8e-6, false);
}

TEST(GangNetworkTest, NodesAreInTheOrderOfRanks) {
  const auto crossed = [](const std::vector<std::string>& nodes) {
    const auto tree = NetworkOf(*UnevenTopology(), nodes, 8, kNetwork);
    const int level = tree->RouteOf(2, 8).crossed;
    return tree->levels()[static_cast<std::size_t>(level)].name;
  };
  EXPECT_EQ(crossed({"a", "b"}), "leaf");
  EXPECT_EQ(crossed({"b", "c"}), "spine");
  EXPECT_EQ(crossed({"a", "b", "c", "e"}), "spine");
  EXPECT_EQ(crossed({"a", "unknown"}), kOutsideLevel);
}

TEST(GangNetworkTest, NodesOutsideTheTopologyHaveNoNetwork) {
  EXPECT_EQ(NetworkOf(*UnevenTopology(), {"x", "y"}, 8, kNetwork), nullptr);
}

}  // namespace
}  // namespace trainyard::controller

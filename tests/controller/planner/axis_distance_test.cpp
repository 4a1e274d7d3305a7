#include "controller/planner/axis_distance.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/controller/planner/uneven_tree.h"

namespace trainyard::planner {
namespace {

Cluster UnevenCluster() {
  Cluster cluster = {
      .device = FindDeviceSpec("H100"), .nodes = 8, .per_node = 8, .network = *FindNetwork("ndr")};
  cluster.tree = std::make_shared<NetworkTree>(UnevenTree());
  return cluster;
}

void ExpectDistance(const AxisDistance& distance, std::string_view axis, int64_t ranks,
                    const std::string& crossed, const std::string& limit, double bandwidth) {
  EXPECT_EQ(distance.axis, axis);
  EXPECT_EQ(distance.ranks, ranks) << axis;
  EXPECT_EQ(distance.crossed, crossed) << axis;
  EXPECT_EQ(distance.limit, limit) << axis;
  EXPECT_DOUBLE_EQ(distance.bandwidth, bandwidth) << axis;
}

TEST(AxisDistanceTest, NamesTheLevelThatLimitsEachAxis) {
  LayoutConfig layout;
  layout.tp = 8;
  layout.dp = 4;
  layout.pp = 2;
  const std::vector<AxisDistance> distances = DistancesOf(layout, UnevenCluster());
  ASSERT_EQ(distances.size(), 3);
  ExpectDistance(distances[0], "tp", 8, "", "NVLink 4", 450e9);
  // The second stage has one node of the first leaf and three of the second. Eight rings leave the
  // second leaf, which has 24 devices.
  ExpectDistance(distances[1], "dp", 4, "spine", "spine", 37.5e9);
  ExpectDistance(distances[2], "pp", 2, "spine", "spine", 12.5e9);
  EXPECT_FALSE(distances[0].is_assumed);
  EXPECT_FALSE(distances[2].is_assumed);
}

// One ring leaves each leaf, with 24 or more devices. Eight network cards carry it from node to
// node, and NVLink within a node.
TEST(AxisDistanceTest, ALevelThatIsCrossedNeedNotLimit) {
  LayoutConfig layout;
  layout.dp = 64;
  const std::vector<AxisDistance> distances = DistancesOf(layout, UnevenCluster());
  ASSERT_EQ(distances.size(), 1);
  ExpectDistance(distances[0], "dp", 64, "spine", "spine", 24 * 12.5e9);
  Cluster fast = UnevenCluster();
  NetworkTreeParts parts = UnevenTree();
  parts.levels[1].bandwidth = 50e9;
  parts.levels[2].is_specified = false;
  fast.tree = std::make_shared<NetworkTree>(parts);
  const AxisDistance limited = DistancesOf(layout, fast)[0];
  ExpectDistance(limited, "dp", 64, "spine", "leaf", 8 * 50e9);
  EXPECT_TRUE(limited.is_assumed);
}

// A member sends 5/8 of its bytes out of the second leaf at 12.5 GB/s, and 7/8 out of the node. The
// bandwidth refers to the bytes that leave the node.
TEST(AxisDistanceTest, ExpertsExchangeOverTheNetwork) {
  LayoutConfig layout;
  layout.dp = 64;
  layout.ep = 64;
  const std::vector<AxisDistance> distances = DistancesOf(layout, UnevenCluster());
  ASSERT_EQ(distances.size(), 2);
  ExpectDistance(distances[1], "ep", 64, "spine", "spine", 12.5e9 * (7.0 / 8) / (5.0 / 8));
}

TEST(AxisDistanceTest, AxesOfOneRankHaveNone) {
  EXPECT_TRUE(DistancesOf(LayoutConfig{}, UnevenCluster()).empty());
}

}  // namespace
}  // namespace trainyard::planner

#include "controller/planner/network_tree.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/controller/planner/uneven_tree.h"

namespace trainyard::planner {
namespace {

constexpr int kOutside = 0, kSpine = 1, kLeaf = 2;

TEST(NetworkTreeTest, AnAxisWithinNodesUsesNoSwitch) {
  const AxisRoute route = NetworkTree(UnevenTree()).RouteOf(8, 1);
  EXPECT_EQ(route.crossed, -1);
  EXPECT_EQ(route.latency, 0);
  EXPECT_TRUE(std::isinf(route.ring_bandwidth));
  EXPECT_EQ(route.exchange_seconds, 0);
}

// One rank per node: eight rings leave each leaf. The second leaf has 24 devices.
TEST(NetworkTreeTest, RingsShareTheUplinkOfAGroup) {
  const AxisRoute route = NetworkTree(UnevenTree()).RouteOf(8, 8);
  EXPECT_EQ(route.crossed, kSpine);
  EXPECT_EQ(route.card_bandwidth, 50e9);
  EXPECT_EQ(route.card_level, kLeaf);
  EXPECT_DOUBLE_EQ(route.ring_bandwidth, 24 * 12.5e9 / 8);
  EXPECT_EQ(route.ring_level, kSpine);
  EXPECT_EQ(route.latency, 20e-6);
}

// Nodes 1 to 3 send to nodes 5 to 7 and back: 24 rings over the 24 devices of the second leaf.
// Nodes 0 and 4 are in the same leaf.
TEST(NetworkTreeTest, AnAxisAcrossTwoLeavesGetsTheBandwidthOfTheSpine) {
  const AxisRoute route = NetworkTree(UnevenTree()).RouteOf(2, 32);
  EXPECT_EQ(route.crossed, kSpine);
  EXPECT_DOUBLE_EQ(route.ring_bandwidth, 12.5e9);
}

// The second leaf has three of eight members. Each of its 24 devices sends five eighths of its
// bytes to the first leaf.
TEST(NetworkTreeTest, AnExchangeSendsTheShareOfMembersOutsideTheGroup) {
  const AxisRoute route = NetworkTree(UnevenTree()).RouteOf(8, 8);
  EXPECT_DOUBLE_EQ(route.exchange_seconds, 0.625 / 12.5e9);
  EXPECT_EQ(route.exchange_level, kSpine);
}

// Two nodes in a leaf, one directly below the spine, and one in no group.
TEST(NetworkTreeTest, NodesMayBeOnAnyLevel) {
  NetworkTreeParts parts = UnevenTree();
  parts.group_of_node = {1, 1, 0, -1};
  parts.per_node = 1;
  const NetworkTree tree(parts);
  const AxisRoute pairs = tree.RouteOf(2, 1);
  EXPECT_EQ(pairs.crossed, kOutside);
  EXPECT_EQ(pairs.card_bandwidth, 10e9);
  EXPECT_EQ(pairs.card_level, kOutside);
  EXPECT_DOUBLE_EQ(pairs.ring_bandwidth, 3 * 10e9) << "the three devices of the spine share";
  const AxisRoute all = tree.RouteOf(4, 1);
  EXPECT_DOUBLE_EQ(all.ring_bandwidth, 2 * 12.5e9) << "the two devices of the leaf share";
  EXPECT_EQ(all.ring_level, kSpine);
  EXPECT_EQ(all.latency, 30e-6);
}

TEST(NetworkTreeTest, RanksWithoutACompleteGroupAreIgnored) {
  NetworkTreeParts parts = UnevenTree();
  parts.group_of_node = {1, 1, 2};
  EXPECT_EQ(NetworkTree(parts).RouteOf(2, 8).crossed, kLeaf);
}

TEST(NetworkTreeTest, PreparedRoutesAreTheSame) {
  const NetworkTree tree(UnevenTree());
  NetworkTree prepared = tree;
  prepared.PrepareAll();
  for (const int64_t stride : {1, 2, 4, 8, 16, 32}) {
    for (int64_t size = 2; size * stride <= 64; size *= 2) {
      const AxisRoute route = tree.RouteOf(size, stride), found = prepared.RouteOf(size, stride);
      EXPECT_EQ(found.crossed, route.crossed) << size << " " << stride;
      EXPECT_EQ(found.ring_bandwidth, route.ring_bandwidth) << size << " " << stride;
      EXPECT_EQ(found.exchange_seconds, route.exchange_seconds) << size << " " << stride;
    }
  }
}

}  // namespace
}  // namespace trainyard::planner

#include "controller/planner/collective_seconds.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/controller/planner/uneven_tree.h"

namespace trainyard::planner {
namespace {

class CollectiveSecondsTest : public testing::Test {
 protected:
  GroupLinks LinksOf(int64_t size, int64_t stride) const {
    return GroupLinks(PlaceOfGroup(size, stride, cluster_), cluster_, profile_);
  }

  TrainerProfile profile_ = {.node_link = 1, .network = 1};
  Cluster cluster_ = {
      .device = FindDeviceSpec("H100"), .nodes = 4, .per_node = 8, .network = {"test", 50e9, 0}};
};

TEST_F(CollectiveSecondsTest, GroupsLieInNodesByTheOrderOfRanks) {
  const auto expect = [this](int64_t size, int64_t stride, double in_node, double nodes) {
    const GroupPlace place = PlaceOfGroup(size, stride, cluster_);
    EXPECT_EQ(place.in_node, in_node) << size << " ranks, " << stride << " apart";
    EXPECT_EQ(place.nodes, nodes) << size << " ranks, " << stride << " apart";
  };
  expect(8, 1, 8, 1);
  expect(16, 1, 8, 2);
  expect(4, 8, 1, 4);
  expect(8, 4, 2, 4);
  expect(2, 2, 2, 1);
  expect(6, 1, 6, 1);
  expect(10, 1, 5, 2);
  expect(4, 3, 1, 4);  // A node has 8 devices, not a multiple of 3.
}

TEST_F(CollectiveSecondsTest, ARankAloneWaitsForNobody) {
  EXPECT_EQ(LinksOf(1, 1).GatherSeconds(1e9), 0);
  EXPECT_EQ(LinksOf(1, 1).SendSeconds(1e9), 0);
}

TEST_F(CollectiveSecondsTest, RingsMoveAllButOnePart) {
  EXPECT_NEAR(LinksOf(8, 1).GatherSeconds(450e9), 7.0 / 8, 1e-4);
  EXPECT_EQ(LinksOf(8, 1).AllReduceSeconds(450e9), 2 * LinksOf(8, 1).GatherSeconds(450e9));
}

TEST_F(CollectiveSecondsTest, GroupsUseTheNetworkCardsOfAllTheirMembersInANode) {
  EXPECT_NEAR(LinksOf(4, 8).GatherSeconds(50e9), 0.75, 1e-4) << "one card";
  EXPECT_NEAR(LinksOf(32, 1).GatherSeconds(400e9), 31.0 / 32, 1e-3) << "eight cards";
  EXPECT_NEAR(LinksOf(2, 8).SendSeconds(50e9), 1, 1e-4);
}

// A rank exchanges data with ranks on four nodes, including its own node. Three quarters of the
// bytes pass through the network card.
TEST_F(CollectiveSecondsTest, ExchangesWaitForTheSlowerOfTheWays) {
  EXPECT_EQ(LinksOf(1, 1).ExchangeSeconds(1e9), 0);
  EXPECT_NEAR(LinksOf(8, 1).ExchangeSeconds(450e9), 7.0 / 8, 1e-4);
  EXPECT_NEAR(LinksOf(32, 1).ExchangeSeconds(50e9), 0.75, 1e-4);
  EXPECT_NEAR(LinksOf(4, 8).ExchangeSeconds(50e9), 0.75, 1e-4) << "as many bytes for each card";
}

class TreeSecondsTest : public testing::Test {
 protected:
  GroupLinks LinksOf(int64_t size, int64_t stride) {
    cluster_.tree = std::make_shared<NetworkTree>(parts_);
    return GroupLinks(PlaceOfGroup(size, stride, cluster_), cluster_, profile_);
  }

  TrainerProfile profile_ = {.node_link = 1, .network = 0.8};
  Cluster cluster_ = {
      .device = FindDeviceSpec("H100"), .nodes = 8, .per_node = 8, .network = {"test", 50e9, 8e-6}};
  NetworkTreeParts parts_ = UnevenTree();
};

// 12.5 GB/s per device of the spine, of which the trainer reaches 80 %.
TEST_F(TreeSecondsTest, ATransferAcrossLeavesWaitsForTheSpine) {
  EXPECT_DOUBLE_EQ(LinksOf(2, 32).SendSeconds(10e9), 1 + 20e-6);
  EXPECT_DOUBLE_EQ(LinksOf(2, 32).GatherSeconds(10e9), 0.5 + 20e-6);
  EXPECT_DOUBLE_EQ(LinksOf(8, 8).GatherSeconds(30e9), 7.0 / 8 + 3 * 20e-6) << "37.5 GB/s";
  EXPECT_DOUBLE_EQ(LinksOf(8, 8).ExchangeSeconds(16e9), 1 + 3 * 20e-6);
}

TEST_F(TreeSecondsTest, LevelsAtTheSpeedOfTheNetworkChangeNothing) {
  for (NetworkLevel& level : parts_.levels) level = {level.name, 50e9, 8e-6, false};
  Cluster plain = cluster_;
  for (const auto& [size, stride] : {std::pair<int64_t, int64_t>{8, 1}, {8, 8}, {2, 32}, {64, 1}}) {
    const GroupLinks links = LinksOf(size, stride);
    const GroupLinks expected(PlaceOfGroup(size, stride, plain), plain, profile_);
    EXPECT_EQ(links.GatherSeconds(1e9), expected.GatherSeconds(1e9)) << size << " " << stride;
    EXPECT_EQ(links.SendSeconds(1e9), expected.SendSeconds(1e9)) << size << " " << stride;
    EXPECT_EQ(links.ExchangeSeconds(1e9), expected.ExchangeSeconds(1e9)) << size << " " << stride;
  }
}

}  // namespace
}  // namespace trainyard::planner

#include "proto/layout/rank_order.h"

#include <gtest/gtest.h>

#include <set>

namespace trainyard {
namespace {

TEST(RankOrderTest, RankAndCoordinatesAreInverse) {
  const RankGrid grid({.tp = 2, .cp = 3, .ep = 2, .dp = 4, .pp = 2});
  ASSERT_EQ(grid.size(), 2 * 3 * 4 * 2);
  std::set<RankCoordinates> seen;
  for (int64_t rank = 0; rank < grid.size(); ++rank) {
    EXPECT_EQ(grid.RankAt(grid.CoordinatesOf(rank)), rank);
    seen.insert(grid.CoordinatesOf(rank));
  }
  EXPECT_EQ(static_cast<int64_t>(seen.size()), grid.size());
}

TEST(RankOrderTest, TensorParallelVariesFastestAndPipelineSlowest) {
  const RankGrid grid({.tp = 2, .cp = 3, .ep = 2, .dp = 4, .pp = 5});
  EXPECT_EQ(grid.CoordinatesOf(1), (RankCoordinates{1, 0, 0, 0, 0}));
  EXPECT_EQ(grid.CoordinatesOf(2), (RankCoordinates{0, 1, 0, 0, 0}));
  EXPECT_EQ(grid.CoordinatesOf(6), (RankCoordinates{0, 0, 1, 0, 0}));
  EXPECT_EQ(grid.CoordinatesOf(12), (RankCoordinates{0, 0, 0, 1, 0}));
  EXPECT_EQ(grid.CoordinatesOf(24), (RankCoordinates{0, 0, 0, 0, 1}));
}

TEST(RankOrderTest, DataParallelIndexCountsExpertsFirst) {
  const RankGrid grid({.tp = 2, .ep = 2, .dp = 4});
  for (int64_t rank = 0; rank < grid.size(); ++rank) {
    EXPECT_EQ(grid.DataParallelIndex(grid.CoordinatesOf(rank)), rank / 2);
  }
}

TEST(RankOrderTest, SizesThatMakeNoGridCountAsOne) {
  EXPECT_EQ(RankGrid({.tp = 0, .cp = -1, .ep = 3, .dp = 4, .pp = 0}).size(), 4);
  EXPECT_EQ(RankGrid({.ep = 3, .dp = 4}).Extent(Axis::kExpert), 1);
}

}  // namespace
}  // namespace trainyard

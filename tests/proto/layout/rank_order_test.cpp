#include "proto/layout/rank_order.h"

#include <gtest/gtest.h>

#include <set>

namespace trainyard {
namespace {

LayoutConfig Layout(int64_t tp, int64_t cp, int64_t dp) {
  LayoutConfig layout;
  layout.tp = tp;
  layout.cp = cp;
  layout.dp = dp;
  return layout;
}

TEST(RankOrderTest, RankAndCoordinatesAreInverse) {
  const RankGrid grid({.tp = 2, .cp = 3, .dp = 4, .pp = 2});
  ASSERT_EQ(grid.size(), 2 * 3 * 4 * 2);
  std::set<RankCoordinates> seen;
  for (int64_t rank = 0; rank < grid.size(); ++rank) {
    EXPECT_EQ(grid.RankAt(grid.CoordinatesOf(rank)), rank);
    seen.insert(grid.CoordinatesOf(rank));
  }
  EXPECT_EQ(static_cast<int64_t>(seen.size()), grid.size());
}

TEST(RankOrderTest, TensorParallelVariesFastestAndPipelineSlowest) {
  const RankGrid grid({.tp = 2, .cp = 3, .dp = 4, .pp = 5});
  EXPECT_EQ(grid.CoordinatesOf(1), (RankCoordinates{1, 0, 0, 0}));
  EXPECT_EQ(grid.CoordinatesOf(2), (RankCoordinates{0, 1, 0, 0}));
  EXPECT_EQ(grid.CoordinatesOf(6), (RankCoordinates{0, 0, 1, 0}));
  EXPECT_EQ(grid.CoordinatesOf(24), (RankCoordinates{0, 0, 0, 1}));
}

TEST(RankOrderTest, SizesBelowOneCountAsOne) {
  EXPECT_EQ(RankGrid({.tp = 0, .cp = -1, .dp = 4, .pp = 0}).size(), 4);
}

TEST(RankOrderTest, ExpertsDivideTheRanksOfAStage) {
  LayoutConfig layout = Layout(2, 2, 4);
  layout.ep = 4;
  EXPECT_EQ(ExpertSizesOf(layout).etp, 2) << "by default as tp";
  EXPECT_EQ(ExpertSizesOf(layout).ranks(), 8);
  EXPECT_EQ(ExpertSizesOf(layout).edp, 2);
  layout.etp = 1;
  EXPECT_EQ(ExpertSizesOf(layout).ranks(), 4);
  EXPECT_EQ(ExpertSizesOf(layout).edp, 4);
  layout.dp = 0;
  EXPECT_EQ(ExpertSizesOf(layout).edp, 1) << "an unknown dp";
}

}  // namespace
}  // namespace trainyard

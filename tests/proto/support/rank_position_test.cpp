#include "proto/support/rank_position.h"

#include <set>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard {
namespace {

using testing::FieldsAre;

v1::LayoutSpec Layout(int tp, int cp, int dp, int pp) {
  v1::LayoutSpec layout;
  layout.set_tp(tp);
  layout.set_cp(cp);
  layout.set_dp(dp);
  layout.set_pp(pp);
  return layout;
}

TEST(RankPositionTest, TensorParallelVariesFastest) {
  const v1::LayoutSpec layout = Layout(4, 2, 3, 2);
  EXPECT_THAT(RankPositionOf(0, layout), FieldsAre(0, 0, 0, 0));
  EXPECT_THAT(RankPositionOf(3, layout), FieldsAre(3, 0, 0, 0));
  EXPECT_THAT(RankPositionOf(4, layout), FieldsAre(0, 1, 0, 0));
  EXPECT_THAT(RankPositionOf(8, layout), FieldsAre(0, 0, 1, 0));
  EXPECT_THAT(RankPositionOf(24, layout), FieldsAre(0, 0, 0, 1));
  EXPECT_THAT(RankPositionOf(47, layout), FieldsAre(3, 1, 2, 1));
}

TEST(RankPositionTest, NoTwoRanksShareAPosition) {
  const v1::LayoutSpec layout = Layout(2, 3, 4, 5);
  std::set<std::tuple<int, int, int, int>> seen;
  for (int rank = 0; rank < 2 * 3 * 4 * 5; ++rank) {
    const RankPosition at = RankPositionOf(rank, layout);
    EXPECT_TRUE(seen.emplace(at.tp, at.cp, at.dp, at.pp).second) << rank;
  }
}

TEST(RankPositionTest, SizesThatAreNotSetAreOne) {
  v1::LayoutSpec layout;
  layout.set_dp(4);
  EXPECT_THAT(RankPositionOf(3, layout), FieldsAre(0, 0, 3, 0));
}

}  // namespace
}  // namespace trainyard

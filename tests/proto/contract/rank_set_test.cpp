#include "proto/contract/rank_set.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

using Ranks = std::vector<int64_t>;

TEST(RankSetTest, EvenlySpacedRanksAreOneRun) {
  EXPECT_EQ(RankSetText({0, 1, 2, 3}), "0-3");
  EXPECT_EQ(RankSetText({1, 5, 9, 13}), "1-13/4");
  EXPECT_EQ(RankSetText({7}), "7");
  EXPECT_EQ(RankSetText({0, 8}), "0,8");
  EXPECT_EQ(RankSetText({0, 1, 2, 8, 9, 10, 12}), "0-2,8-10,12");
}

TEST(RankSetTest, TextsReadBackAsTheRanks) {
  for (const Ranks& ranks : {Ranks{0}, Ranks{3, 4}, Ranks{0, 2, 4, 6}, Ranks{0, 1, 4, 5, 6, 20},
                             Ranks{1, 2, 4, 8, 16, 32, 33, 34}}) {
    EXPECT_EQ(ParseRankSet(RankSetText(ranks)), ranks) << RankSetText(ranks);
  }
}

TEST(RankSetTest, OtherTextsAreRefused) {
  for (const char* text :
       {"", "a", "-1", "1,", ",1", "3-1", "0-4/0", "0-4/", "1 2", "2,1", "0-3,3", "0-1048576",
        "9223372036854775807", "99999999999999999999", "0-3x", "1/2"}) {
    EXPECT_EQ(ParseRankSet(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace trainyard

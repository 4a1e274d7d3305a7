#include "trainer/parallel/row_pieces.h"

#include <gtest/gtest.h>

#include <set>

namespace trainyard::trainer {
namespace {

TEST(RowPiecesTest, InEachTurnAMemberReceivesFromTheOneThatSendsToIt) {
  for (const int64_t size : {2, 3, 4, 8}) {
    for (int64_t rank = 0; rank < size; ++rank) {
      const auto from = ReceiveOrder(size, rank);
      ASSERT_EQ(static_cast<int64_t>(from.size()), size - 1);
      EXPECT_EQ(std::set<int64_t>(from.begin(), from.end()).count(rank), 0U);
      for (size_t turn = 0; turn < from.size(); ++turn) {
        EXPECT_EQ(SendOrder(size, from[turn])[turn], rank);
      }
    }
  }
}

TEST(RowPiecesTest, RowsOfOtherMembersComeFirst) {
  using Order = std::vector<RowPiece>;
  EXPECT_EQ(PiecesInSendOrder(2, 0, 8, 2), (Order{{1, 4, 2}, {1, 6, 2}, {0, 0, 4}}));
  EXPECT_EQ(PiecesInSendOrder(3, 1, 6, 1), (Order{{2, 4, 2}, {0, 0, 2}, {1, 2, 2}}));
}

}  // namespace
}  // namespace trainyard::trainer

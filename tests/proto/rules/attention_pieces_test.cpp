#include "proto/rules/attention_pieces.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

AttentionSize SizeOf(int64_t samples, int64_t length, int64_t query_heads, int64_t key_heads) {
  return {samples, length, length, query_heads, key_heads};
}

void ExpectPieces(const AttentionPieces& pieces, int64_t samples, int64_t key_heads) {
  EXPECT_EQ(pieces.samples, samples);
  EXPECT_EQ(pieces.key_heads, key_heads);
}

// The score gradients of a sample take 8 * 2048^2 * 2 bytes, 64 MiB.
TEST(AttentionPiecesTest, ExchangedPiecesHaveAtMostOneGibibyte) {
  ExpectPieces(ExchangePiecesOf(SizeOf(32, 2048, 8, 4)), 2, 1);
  ExpectPieces(ExchangePiecesOf(SizeOf(33, 2048, 8, 4)), 3, 1);
  ExpectPieces(ExchangePiecesOf(SizeOf(2, 2048, 8, 4)), 2, 1);
}

TEST(AttentionPiecesTest, FewSamplesAreDividedByHeads) {
  ExpectPieces(ExchangePiecesOf(SizeOf(1, 2048, 8, 4)), 1, 2);
  ExpectPieces(ExchangePiecesOf(SizeOf(1, 16384, 8, 4)), 1, 4);
  ExpectPieces(ExchangePiecesOf(SizeOf(1, 65536, 8, 4)), 1, 4);
  ExpectPieces(ExchangePiecesOf(SizeOf(1, 64, 4, 1)), 1, 1);
}

TEST(AttentionPiecesTest, BackwardPassesAreDividedOnlyAboveTwoGibibytes) {
  ExpectPieces(BackwardPiecesOf(SizeOf(16, 2048, 16, 8)), 1, 1);
  ExpectPieces(BackwardPiecesOf(SizeOf(17, 2048, 16, 8)), 2, 1);
  ExpectPieces(BackwardPiecesOf(SizeOf(1, 8192, 32, 8)), 1, 2);
  ExpectPieces(BackwardPiecesOf(SizeOf(2, 32768, 32, 8)), 2, 8);
}

TEST(AttentionPiecesTest, BlocksOfTokensBoundOneKeyHead) {
  EXPECT_EQ(BlocksOfTokens(16384, 4), 1);
  EXPECT_EQ(BlocksOfTokens(16385, 4), 2);
  EXPECT_EQ(BlocksOfTokens(32768, 1), 1);
  EXPECT_EQ(BlocksOfTokens(65536, 4), 4);
}

}  // namespace
}  // namespace trainyard

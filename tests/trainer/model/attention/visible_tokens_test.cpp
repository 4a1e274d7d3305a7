#include "trainer/model/attention/visible_tokens.h"

#include <gtest/gtest.h>

#include <vector>

namespace trainyard::trainer {
namespace {

// Returns the position within the sample of the rank's `token`-th token.
int64_t PositionAt(int64_t rank, int64_t token, const ContextShape& shape) {
  const int64_t half = shape.length / 2;
  const int64_t chunk = token < half ? rank : 2 * shape.ranks - 1 - rank;
  return chunk * half + token % half;
}

bool Sees(int64_t query, int64_t key, const ContextShape& shape) {
  return key <= query && (shape.window == 0 || query - key < shape.window);
}

// Checks the visibility of each pair of a query of `rank` and a key of `key_rank`. Returns the
// number of visible pairs.
int64_t ExpectHoldsAllPairs(int64_t rank, int64_t key_rank, const ContextShape& shape) {
  const VisibleTokens tokens = TokensVisibleTo(rank, key_rank, shape);
  int64_t seen = 0;
  for (int64_t query = 0; query < shape.length; ++query) {
    for (int64_t key = 0; key < shape.length; ++key) {
      const bool holds = query >= tokens.first_query &&
                         query < tokens.first_query + tokens.queries && key >= tokens.first_key &&
                         key < tokens.first_key + tokens.keys;
      const bool sees =
          Sees(PositionAt(rank, query, shape), PositionAt(key_rank, key, shape), shape);
      EXPECT_TRUE(holds || !sees) << "query " << query << " of " << rank << " misses key " << key
                                  << " of " << key_rank << ", window " << shape.window;
      const bool is_exact = shape.window == 0 && tokens.mask == AttentionMask::kNone;
      EXPECT_TRUE(!is_exact || holds == sees) << "a part without a mask hides no key";
      seen += sees ? 1 : 0;
    }
  }
  EXPECT_EQ(tokens.queries > 0, seen > 0) << "a part that nobody sees, window " << shape.window;
  EXPECT_EQ(tokens.keys > 0, tokens.queries > 0);
  return seen;
}

TEST(VisibleTokensTest, PartsHoldEveryPairThatSeesEachOther) {
  for (const int64_t ranks : {2, 3, 4}) {
    for (const int64_t length : {2, 6}) {
      const int64_t tokens = ranks * length;
      for (int64_t window = 0; window <= tokens; ++window) {
        const ContextShape shape{ranks, length, window};
        int64_t seen = 0, expected = 0;
        for (int64_t rank = 0; rank < ranks; ++rank) {
          for (int64_t key_rank = 0; key_rank < ranks; ++key_rank) {
            seen += ExpectHoldsAllPairs(rank, key_rank, shape);
          }
        }
        for (int64_t query = 0; query < tokens; ++query) {
          for (int64_t key = 0; key < tokens; ++key) expected += Sees(query, key, shape) ? 1 : 0;
        }
        EXPECT_EQ(seen, expected);
      }
    }
  }
}

// Counts, for each pair of a query and a key, the blocks that see it.
std::vector<std::vector<int>> CountsIn(const std::vector<VisibleTokens>& blocks, int64_t tokens) {
  std::vector<std::vector<int>> counts(tokens, std::vector<int>(tokens));
  for (const VisibleTokens& block : blocks) {
    for (int64_t query = 0; query < block.queries; ++query) {
      for (int64_t key = 0; key < block.keys; ++key) {
        const bool sees = block.mask == AttentionMask::kNone || key <= query;
        counts[block.first_query + query][block.first_key + key] += sees ? 1 : 0;
      }
    }
  }
  return counts;
}

TEST(VisibleTokensTest, EveryVisiblePairIsInOneBlock) {
  constexpr int64_t kBlockTokens = 12;
  const VisibleTokens causal{0, kBlockTokens, 0, kBlockTokens, AttentionMask::kCausal};
  const VisibleTokens half{6, 6, 2, 5, AttentionMask::kNone};
  for (const VisibleTokens& tokens : {causal, half}) {
    for (const int64_t blocks : {1, 2, 5}) {
      const std::vector<VisibleTokens> parts = BlocksOf(tokens, blocks);
      EXPECT_EQ(CountsIn(parts, kBlockTokens), CountsIn({tokens}, kBlockTokens)) << blocks;
      for (const VisibleTokens& part : parts) {
        EXPECT_LE(part.queries, (tokens.queries + blocks - 1) / blocks);
        EXPECT_LE(part.keys, (tokens.keys + blocks - 1) / blocks);
        EXPECT_TRUE(part.mask == AttentionMask::kNone || part.queries == part.keys);
      }
    }
  }
}

}  // namespace
}  // namespace trainyard::trainer

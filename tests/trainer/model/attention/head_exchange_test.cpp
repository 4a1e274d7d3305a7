#include "trainer/model/attention/head_exchange.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/trainer/parallel/run_ranks.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Each rank has kHeadTokens tokens of each sample, and kKeyHeads key heads.
constexpr int64_t kHeadRanks = 3, kHeadSamples = 4, kHeadTokens = 2, kKeyHeads = 2;

// Whole samples, all heads: four query heads and two key heads for each rank.
struct WholeTensors {
  Tensor query =
      torch::randn({kHeadSamples, kHeadRanks* kHeadTokens, 2 * kHeadRanks* kKeyHeads, 5});
  Tensor key = torch::randn({kHeadSamples, kHeadRanks* kHeadTokens, kHeadRanks* kKeyHeads, 3});
};

Tensor TokensOf(const Tensor& whole, int64_t rank) {
  return whole.narrow(1, rank * kHeadTokens, kHeadTokens);
}

// Returns the heads of `rank` in a piece for all tokens.
Tensor HeadsOf(const Tensor& whole, int64_t rank, const HeadPiece& piece) {
  const int64_t share = whole.size(2) / kHeadRanks / kKeyHeads;
  return whole.narrow(0, piece.samples.first, piece.samples.length)
      .narrow(2, (rank * kKeyHeads + piece.key_heads.first) * share,
              piece.key_heads.length * share);
}

// The tokens of `rank`, copied so that no element of other ranks is in the same memory.
TokenHeads HeadsOfTokens(const WholeTensors& all, int64_t rank) {
  return {
      {TokensOf(all.query, rank).clone(), TokensOf(all.key, rank).clone()}, kHeadRanks, kKeyHeads};
}

Tensor NewRows(const TokenHeads& tokens, const HeadPiece& piece) {
  return torch::empty({kHeadRanks * kHeadTokens, piece.samples.length, tokens.WidthIn(piece)});
}

// All samples, a part of the samples, one of the key heads, and one key head of one sample.
const HeadPiece kHeadPieces[] = {{{0, kHeadSamples}, {0, kKeyHeads}},
                                 {{1, 3}, {0, kKeyHeads}},
                                 {{0, kHeadSamples}, {1, 1}},
                                 {{2, 1}, {0, 1}}};

TEST(HeadExchangeTest, EveryRankGetsItsHeadsOfWholeSamples) {
  for (const HeadPiece& piece : kHeadPieces) {
    const WholeTensors all;
    RunRanksInMemory(kHeadRanks, [&](Communicator& group) {
      const ContextParallel context(group, ContextExchange::kA2a);
      const TokenHeads tokens = HeadsOfTokens(all, group.rank());
      const Tensor rows = NewRows(tokens, piece);
      PendingHeads(tokens, piece, context, rows).Wait();
      const std::vector<Tensor> heads = HeadsInRows(rows, tokens.Of(0, piece));
      ASSERT_EQ(heads.size(), 2U);
      EXPECT_TRUE(heads[0].equal(HeadsOf(all.query, group.rank(), piece)));
      EXPECT_TRUE(heads[1].equal(HeadsOf(all.key, group.rank(), piece)));
    });
  }
}

TEST(HeadExchangeTest, TheWayBackRestoresTheTokens) {
  for (const HeadPiece& piece : kHeadPieces) {
    const WholeTensors all;
    RunRanksInMemory(kHeadRanks, [&](Communicator& group) {
      const ContextParallel context(group, ContextExchange::kA2a);
      const TokenHeads tokens = HeadsOfTokens(all, group.rank());
      const Tensor rows = NewRows(tokens, piece);
      PendingHeads(tokens, piece, context, rows).Wait();
      const WholeTensors none{torch::zeros_like(all.query), torch::zeros_like(all.key)};
      const TokenHeads into = HeadsOfTokens(none, group.rank());
      PendingTokens(context, piece, rows).Get(into);
      for (int64_t rank = 0; rank < kHeadRanks; ++rank) {
        const std::vector<Tensor> sent = tokens.Of(rank, piece), back = into.Of(rank, piece);
        EXPECT_TRUE(back[0].equal(sent[0]));
        EXPECT_TRUE(back[1].equal(sent[1]));
      }
    });
  }
}

TEST(HeadExchangeTest, TokensOfARankAreNeighbors) {
  RunRanksInMemory(kHeadRanks, [&](Communicator& group) {
    const ContextParallel context(group, ContextExchange::kA2a);
    EXPECT_TRUE(context.exchanges_heads());
    EXPECT_TRUE(context.PositionsOf(1, 12, torch::kCPU).equal(torch::arange(4, 8)));
    const ContextParallel ring(group, ContextExchange::kP2p);
    EXPECT_FALSE(ring.exchanges_heads());
    EXPECT_TRUE(ring.PositionsOf(1, 12, torch::kCPU).equal(torch::tensor({2, 3, 8, 9})));
  });
}

}  // namespace
}  // namespace trainyard::trainer

#include "proto/samples/blend_order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace trainyard {
namespace {

using Shares = std::vector<int64_t>;

// Includes the hardest case: one source has nearly all samples, and many others have few.
const std::vector<Shares> kBlends = {{1},
                                     {1, 1},
                                     {7, 3},
                                     {0, 7, 0, 3},
                                     {1, 999},
                                     {670, 45, 150, 45, 45, 25, 20},
                                     {90, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                     {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 90},
                                     {5, 5, 5, 4, 4, 3, 3, 2, 1},
                                     Shares(64, 1)};

// Returns random blends of up to 12 sources with very unequal shares.
std::vector<Shares> RandomBlends(int count) {
  uint64_t random = 7;
  const auto pick = [&random](uint64_t below) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((random >> 33) % below);
  };
  std::vector<Shares> blends;
  for (int i = 0; i < count; ++i) {
    Shares shares;
    for (int64_t sources = 1 + pick(12); sources > 0; --sources) {
      shares.push_back(1 + pick(pick(3) == 0 ? 500 : 10));
    }
    blends.push_back(shares);
  }
  return blends;
}

// Checks every prefix of two and a half periods. In each prefix, the number of samples of a source
// must differ from the source's share by less than 1.
void ExpectPrefixesHoldTheWeights(const Shares& shares) {
  const BlendOrder order(shares);
  const int64_t period = std::accumulate(shares.begin(), shares.end(), int64_t{0});
  Shares taken(shares.size(), 0);
  for (int64_t position = 0; position < 5 * period / 2; ++position) {
    const BlendOrder::Place place = order.At(position);
    ASSERT_EQ(place.index, taken[place.source]++) << "position " << position;
    for (size_t i = 0; i < shares.size(); ++i) {
      // In integers: |taken - (position + 1) * share / period| < 1.
      ASSERT_LT(std::abs(taken[i] * period - (position + 1) * shares[i]), period)
          << "source " << i << " of " << shares.size() << ", position " << position;
    }
  }
}

TEST(BlendOrderTest, EveryPrefixIsWithinOneSampleOfTheWeights) {
  for (const Shares& shares : kBlends) ExpectPrefixesHoldTheWeights(shares);
  for (const Shares& shares : RandomBlends(300)) ExpectPrefixesHoldTheWeights(shares);
}

TEST(BlendOrderTest, CountsAndPositionsAgreeWithTheOrder) {
  for (const Shares& shares : kBlends) {
    const BlendOrder order(shares);
    const int64_t period = std::accumulate(shares.begin(), shares.end(), int64_t{0});
    Shares taken(shares.size(), 0);
    for (int64_t position = 0; position < 2 * period + 3; ++position) {
      for (size_t i = 0; i < shares.size(); ++i) ASSERT_EQ(order.Count(i, position), taken[i]);
      const BlendOrder::Place place = order.At(position);
      ASSERT_GT(shares[place.source], 0);
      ASSERT_EQ(order.PositionOf(place), position);
      ++taken[place.source];
    }
  }
}

// The order repeats after each period. Therefore positions far into a run must have the same
// sources as the corresponding positions at its beginning.
TEST(BlendOrderTest, RepeatsAfterEachPeriod) {
  const BlendOrder order({7, 3});
  constexpr int64_t kFar = 1'000'000'000'000;
  for (int64_t position = 0; position < 10; ++position) {
    const BlendOrder::Place near = order.At(position), far = order.At(kFar + position);
    EXPECT_EQ(far.source, near.source);
    EXPECT_EQ(far.index, near.index + kFar / 10 * (near.source == 0 ? 7 : 3));
  }
}

// Checkpoints depend on this order. If it changed, every resumed run would break.
TEST(BlendOrderTest, NeverChanges) {
  const BlendOrder order({5, 3, 2});
  Shares sources;
  for (int64_t position = 0; position < 10; ++position)
    sources.push_back(order.At(position).source);
  EXPECT_EQ(sources, (Shares{0, 1, 0, 2, 0, 1, 0, 1, 0, 2}));
}

}  // namespace
}  // namespace trainyard

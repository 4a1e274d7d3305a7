#include "data/bpe_training/pair_counts.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace trainyard::data {
namespace {

TEST(PairCountsTest, OrdersPairsByLeftAndThenRight) {
  EXPECT_LT(MakePair(1, 9), MakePair(2, 0));
  EXPECT_LT(MakePair(2, 0), MakePair(2, 1));
  EXPECT_EQ(LeftOf(MakePair(3, 4)), 3u);
  EXPECT_EQ(RightOf(MakePair(3, 4)), 4u);
}

TEST(PairCountsTest, CountsAsAMapDoes) {
  PairCounts counts;
  std::map<SymbolPair, int64_t> expected;
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const SymbolPair pair = MakePair(random() % 100, random() % 100);
    const int64_t change = static_cast<int64_t>(random() % 9) - 4;
    ASSERT_TRUE(counts.MakeSpace(1));
    const size_t slot = counts.Add(pair, change);
    expected[pair] += change;
    ASSERT_EQ(counts.CountOf(slot), expected[pair]);
  }
  for (const auto& [pair, count] : expected) ASSERT_EQ(counts.Get(pair), count);
  EXPECT_EQ(counts.Get(MakePair(100, 0)), 0);
}

TEST(PairCountsTest, MovesNoSlotAfterMakeSpace) {
  PairCounts counts;
  ASSERT_TRUE(counts.MakeSpace(5'000));
  const size_t memory = counts.bytes();
  const size_t slot = counts.Add(MakePair(0, 0), 1);
  for (uint32_t i = 1; i < 5'000; ++i) counts.Add(MakePair(i, 1), 1);
  EXPECT_EQ(counts.bytes(), memory);
  EXPECT_EQ(counts.Add(MakePair(0, 0), 1), slot);
}

TEST(PairCountsTest, PredictsTheMemoryOfGrowth) {
  PairCounts counts;
  ASSERT_TRUE(counts.MakeSpace(1'000));
  const size_t before = counts.bytes();
  EXPECT_EQ(counts.PeakBytesFor(1), before);
  const size_t peak = counts.PeakBytesFor(100'000);
  ASSERT_TRUE(counts.MakeSpace(100'000));
  EXPECT_EQ(peak, before + counts.bytes());
}

}  // namespace
}  // namespace trainyard::data

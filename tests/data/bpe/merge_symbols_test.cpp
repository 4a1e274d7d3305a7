#include "data/bpe/merge_symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <vector>

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

std::vector<uint32_t> ByMergeShort(const MergeTable& merges, std::vector<uint32_t> symbols) {
  symbols.resize(MergeShort(merges, symbols.data(), symbols.size()));
  return symbols;
}

std::vector<uint32_t> ByMergeLong(const MergeTable& merges, std::vector<uint32_t> symbols) {
  MergeLong(merges, &symbols);
  return symbols;
}

// The definition: merges the leftmost pair of the lowest rank until no pair merges.
std::vector<uint32_t> ByDefinition(const MergeTable& merges, std::vector<uint32_t> symbols) {
  while (true) {
    uint32_t lowest = kNoRank;
    size_t at = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const uint32_t rank = merges.RankOf(symbols[i], symbols[i + 1]);
      if (rank < lowest) {
        lowest = rank;
        at = i;
      }
    }
    if (lowest == kNoRank) return symbols;
    symbols[at] = merges.ResultOf(lowest, symbols[at], symbols[at + 1]);
    symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(at) + 1);
  }
}

TEST(MergeTableTest, ReturnsRanksInTheOrderOfAdding) {
  MergeTable merges;
  EXPECT_EQ(merges.RankOf(1, 2), kNoRank);
  EXPECT_TRUE(merges.Add(1, 2, 30));
  EXPECT_TRUE(merges.Add(2, 1, 20));
  EXPECT_EQ(merges.RankOf(1, 2), 0u);
  EXPECT_EQ(merges.RankOf(2, 1), 1u);
  EXPECT_EQ(merges.ResultOf(1, 2, 1), 20u);
  EXPECT_EQ(merges.RankOf(0, 0), kNoRank);
  EXPECT_EQ(merges.RankOf(kTokensMax - 1, kTokensMax - 1), kNoRank);
}

TEST(MergeTableTest, RejectsIdsThatDoNotFit) {
  MergeTable merges;
  EXPECT_FALSE(merges.Add(kTokensMax, 0, 0));
  EXPECT_FALSE(merges.Add(0, kTokensMax, 0));
  EXPECT_FALSE(merges.Add(0, 0, kTokensMax));
  EXPECT_EQ(merges.size(), 0u);
}

TEST(MergeTableTest, UsesTheLastOfEqualPairs) {
  MergeTable merges;
  EXPECT_TRUE(merges.Add(1, 2, 30));
  EXPECT_TRUE(merges.Add(1, 2, 31));
  EXPECT_EQ(merges.RankOf(1, 2), 1u);
  EXPECT_EQ(merges.ResultOf(1, 1, 2), 31u);
}

TEST(MergeTableTest, MergesOfOneRankMayMakeDifferentTokens) {
  MergeTable merges;
  EXPECT_FALSE(merges.AddWithLastRank(1, 2, 30));
  EXPECT_TRUE(merges.Add(1, 2, 30));
  EXPECT_TRUE(merges.AddWithLastRank(3, 4, 30));
  EXPECT_EQ(merges.ResultOf(0, 3, 4), 30u);
  EXPECT_TRUE(merges.AddWithLastRank(5, 6, 31));
  EXPECT_TRUE(merges.AddWithLastRank(7, 8, 30));
  EXPECT_EQ(merges.RankOf(7, 8), 0u);
  EXPECT_EQ(merges.ResultOf(0, 1, 2), 30u);
  EXPECT_EQ(merges.ResultOf(0, 3, 4), 30u);
  EXPECT_EQ(merges.ResultOf(0, 5, 6), 31u);
  EXPECT_EQ(merges.ResultOf(0, 7, 8), 30u);
  EXPECT_EQ(merges.size(), 1u);
}

TEST(MergeTableTest, FindsPairsAfterItGrows) {
  MergeTable merges;
  for (uint32_t i = 0; i < 5000; ++i) ASSERT_TRUE(merges.Add(i, i * 3 % 4999, i + 1));
  for (uint32_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(merges.RankOf(i, i * 3 % 4999), i);
    ASSERT_EQ(merges.RankOf(i, 5000), kNoRank);
  }
}

TEST(MergeSymbolsTest, LowestRankWinsOverPosition) {
  MergeTable merges;
  merges.Add(2, 3, 10);  // bc
  merges.Add(1, 2, 11);  // ab
  EXPECT_THAT(ByMergeShort(merges, {1, 2, 3}), ElementsAre(1, 10));
  EXPECT_THAT(ByMergeLong(merges, {1, 2, 3}), ElementsAre(1, 10));
}

TEST(MergeSymbolsTest, LeftmostWinsAmongEqualRanks) {
  MergeTable merges;
  merges.Add(1, 1, 2);
  EXPECT_THAT(ByMergeShort(merges, {1, 1, 1}), ElementsAre(2, 1));
  EXPECT_THAT(ByMergeLong(merges, {1, 1, 1}), ElementsAre(2, 1));
  merges.Add(2, 1, 3);
  EXPECT_THAT(ByMergeShort(merges, {1, 1, 1, 1, 1}), ElementsAre(2, 3));
  EXPECT_THAT(ByMergeLong(merges, {1, 1, 1, 1, 1}), ElementsAre(2, 3));
}

TEST(MergeSymbolsTest, ARankLowerThanTheLastOneIsAppliedNext) {
  MergeTable merges;
  merges.Add(5, 3, 6);  // rank 0 becomes possible only after rank 1
  merges.Add(1, 2, 5);
  merges.Add(3, 4, 7);
  EXPECT_THAT(ByMergeShort(merges, {1, 2, 3, 4}), ElementsAre(6, 4));
  EXPECT_THAT(ByMergeLong(merges, {1, 2, 3, 4}), ElementsAre(6, 4));
}

TEST(MergeSymbolsTest, LeftmostWinsAmongDifferentPairsOfOneRank) {
  MergeTable merges;
  merges.Add(2, 3, 10);
  merges.AddWithLastRank(1, 2, 11);
  EXPECT_THAT(ByMergeShort(merges, {1, 2, 3}), ElementsAre(11, 3));
  EXPECT_THAT(ByMergeLong(merges, {1, 2, 3}), ElementsAre(11, 3));
}

TEST(MergeSymbolsTest, KeepsFewSymbols) {
  MergeTable merges;
  merges.Add(1, 1, 2);
  EXPECT_THAT(ByMergeShort(merges, {}), ElementsAre());
  EXPECT_THAT(ByMergeShort(merges, {1}), ElementsAre(1));
  EXPECT_THAT(ByMergeLong(merges, {}), ElementsAre());
  EXPECT_THAT(ByMergeLong(merges, {1}), ElementsAre(1));
}

TEST(MergeSymbolsTest, RandomMergesGiveWhatTheDefinitionGives) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    MergeTable merges;
    const uint32_t ids = 3 + random() % 20;
    for (int i = 0; i < 40; ++i) merges.Add(random() % ids, random() % ids, random() % ids);
    std::vector<uint32_t> symbols(1 + random() % kShortSymbolsMax);
    for (uint32_t& symbol : symbols) symbol = random() % ids;
    const std::vector<uint32_t> expected = ByDefinition(merges, symbols);
    ASSERT_THAT(ByMergeShort(merges, symbols), ElementsAreArray(expected));
    ASSERT_THAT(ByMergeLong(merges, symbols), ElementsAreArray(expected));
  }
}

// So many merges that stale candidates are removed several times.
TEST(MergeSymbolsTest, LongTextsOfRandomMergesGiveWhatTheDefinitionGives) {
  std::mt19937 random(2);
  for (int round = 0; round < 20; ++round) {
    MergeTable merges;
    uint32_t ids = 4;
    for (uint32_t i = 0; i < 200; ++i) {
      const bool is_again =
          i % 3 == 2 && merges.AddWithLastRank(random() % ids, random() % ids, ids - 1);
      if (!is_again) merges.Add(random() % ids, random() % ids, ids);
      ids += is_again ? 0 : 1;
    }
    std::vector<uint32_t> symbols(3000);
    for (uint32_t& symbol : symbols) symbol = random() % 4;
    ASSERT_THAT(ByMergeLong(merges, symbols), ElementsAreArray(ByDefinition(merges, symbols)));
  }
}

// Quadratic time would take minutes.
TEST(MergeSymbolsTest, AMillionEqualSymbolsTakeNoQuadraticTime) {
  MergeTable merges;
  for (uint32_t id = 1; id < 20; ++id) merges.Add(id, id, id + 1);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<uint32_t> ids = ByMergeLong(merges, std::vector<uint32_t>(1 << 20, 1));
  EXPECT_THAT(ids, ElementsAre(20, 20));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace trainyard::data

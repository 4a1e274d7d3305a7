#include "data/bpe_training/merge_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using Key = std::pair<int64_t, SymbolPair>;  // -count, pair

QueuedPair Entry(SymbolPair pair, int64_t count) { return {.pair = pair, .count = count}; }

TEST(MergeQueueTest, IsEmptyAtFirst) { EXPECT_FALSE(MergeQueue().Pop().has_value()); }

TEST(MergeQueueTest, ReturnsTheLargestCountAndThenTheLeastPair) {
  MergeQueue queue;
  queue.Push(Entry(MakePair(2, 1), 5));
  queue.Push(Entry(MakePair(9, 9), 6));
  queue.Push(Entry(MakePair(1, 7), 5));
  queue.Push(Entry(MakePair(1, 2), 5));
  EXPECT_EQ(queue.Pop()->pair, MakePair(9, 9));
  EXPECT_EQ(queue.Pop()->pair, MakePair(1, 2));
  EXPECT_EQ(queue.Pop()->pair, MakePair(1, 7));
  EXPECT_EQ(queue.Pop()->pair, MakePair(2, 1));
  EXPECT_FALSE(queue.Pop().has_value());
}

TEST(MergeQueueTest, OrdersEntriesAsASortWhenPushesAndPopsAlternate) {
  std::mt19937_64 random(3);
  MergeQueue queue;
  std::vector<Key> expected;
  for (int i = 0; i < 5'000; ++i) {
    if (random() % 3 != 0) {
      const int64_t count = static_cast<int64_t>((random() >> (random() % 62 + 2)) + 1);
      const Key key{-count, random() % 100};
      queue.Push(Entry(key.second, count));
      expected.insert(std::upper_bound(expected.begin(), expected.end(), key), key);
      continue;
    }
    const std::optional<QueuedPair> entry = queue.Pop();
    ASSERT_EQ(entry.has_value(), !expected.empty());
    if (!entry.has_value()) continue;
    ASSERT_EQ(Key(-entry->count, entry->pair), expected.front());
    expected.erase(expected.begin());
  }
}

TEST(MergeQueueTest, CountsThePositionsOfItsEntries) {
  MergeQueue queue;
  queue.Push(Entry(1, 1));
  const size_t before = queue.bytes();
  QueuedPair entry = Entry(2, 1);
  entry.words = WordPositions(1'000);
  for (uint32_t i = 0; i < 1'000; ++i) entry.words.Append(i);
  queue.Push(std::move(entry));
  EXPECT_GE(queue.bytes(), before + 4'000);
  EXPECT_EQ(queue.Pop()->pair, 1u);
  EXPECT_EQ(queue.Pop()->words.all().size(), 1'000u);
  EXPECT_LT(queue.bytes(), 4'000u);
}

TEST(WordPositionsTest, KeepsOneOrManyPositions) {
  WordPositions one(1);
  one.Append(7);
  EXPECT_THAT(one.all(), ElementsAre(7));
  EXPECT_EQ(one.bytes(), 0u);
  WordPositions two(2);
  two.Append(8);
  two.Append(9);
  const WordPositions moved = std::move(two);
  EXPECT_THAT(moved.all(), ElementsAre(8, 9));
  EXPECT_EQ(moved.bytes(), 32u);
}

}  // namespace
}  // namespace trainyard::data

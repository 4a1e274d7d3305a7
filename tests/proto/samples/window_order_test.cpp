#include "proto/samples/window_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace trainyard {
namespace {

using testing::ElementsAre;

TEST(PermuteIndexTest, IsAPermutationAtEverySize) {
  for (int64_t size = 1; size <= 300; ++size) {
    std::set<int64_t> seen;
    for (int64_t i = 0; i < size; ++i) seen.insert(PermuteIndex(7, 0, size, i));
    ASSERT_EQ(static_cast<int64_t>(seen.size()), size);
    ASSERT_EQ(*seen.begin(), 0);
    ASSERT_EQ(*seen.rbegin(), size - 1);
  }
}

TEST(PermuteIndexTest, StaysInRangeForHugeSizes) {
  const int64_t size = (int64_t{1} << 40) + 12345;
  std::set<int64_t> seen;
  for (int64_t i = 0; i < 1000; ++i) {
    const int64_t place = PermuteIndex(7, 3, size, size - 1 - i);
    ASSERT_GE(place, 0);
    ASSERT_LT(place, size);
    seen.insert(place);
  }
  EXPECT_EQ(seen.size(), 1000u);
}

// If adjacent indices stayed adjacent, a batch would contain neighboring text.
TEST(PermuteIndexTest, SpreadsNeighboursApart) {
  const int64_t size = 10000;
  double distance = 0;
  for (int64_t i = 0; i + 1 < size; ++i) {
    distance += std::abs(static_cast<double>(PermuteIndex(1, 0, size, i)) -
                         static_cast<double>(PermuteIndex(1, 0, size, i + 1)));
  }
  EXPECT_NEAR(distance / static_cast<double>(size - 1), size / 3.0, size * 0.02);
}

TEST(PermuteIndexTest, EachBucketGetsItsShareOfAWindowOfTheOrder) {
  const int64_t size = 100000;
  std::vector<int> bucket(10, 0);
  for (int64_t i = 5000; i < 15000; ++i) bucket[PermuteIndex(9, 2, size, i) / (size / 10)]++;
  double chi_squared = 0;
  for (const int count : bucket) chi_squared += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi_squared, 27.9);  // 99.9th percentile for 9 degrees of freedom
}

TEST(PermuteIndexTest, DependsOnSeedAndEpoch) {
  int same_seed = 0;
  int same_epoch = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    same_seed += PermuteIndex(1, 0, 1000, i) == PermuteIndex(2, 0, 1000, i);
    same_epoch += PermuteIndex(1, 0, 1000, i) == PermuteIndex(1, 1, 1000, i);
  }
  EXPECT_LT(same_seed, 10);  // about one of 1000 coincides by chance
  EXPECT_LT(same_epoch, 10);
}

// Checkpoints depend on this order. If it changed, every resumed run would break.
TEST(PermuteIndexTest, NeverChanges) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < 8; ++i) order.push_back(PermuteIndex(1234, 0, 1000, i));
  EXPECT_THAT(order, ElementsAre(704, 565, 719, 166, 243, 604, 979, 949));
}

TEST(WindowsInTest, TheLastTokenIsOnlyATarget) {
  EXPECT_EQ(WindowsIn(0, 10), 0);
  EXPECT_EQ(WindowsIn(10, 10), 0);
  EXPECT_EQ(WindowsIn(11, 10), 1);
  EXPECT_EQ(WindowsIn(1001, 10), 100);
}

TEST(ShuffledWindowTest, EachSourceAndEpochHasItsOwnOrder) {
  std::set<std::vector<int64_t>> orders;
  for (int64_t source = 0; source < 3; ++source) {
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      std::vector<int64_t> order;
      for (int64_t i = 0; i < 100; ++i) {
        const Window window = ShuffledWindow({source, 100 * epoch + i}, 1234, 100);
        ASSERT_EQ(window.pass, epoch);
        order.push_back(window.number);
      }
      EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()).size(), 100u);
      orders.insert(order);
    }
  }
  EXPECT_EQ(orders.size(), 9u);
}

TEST(ShuffledWindowTest, SourceZeroHasTheSeedOfTheRun) {
  EXPECT_EQ(ShuffledWindow({0, 1003}, 1234, 1000).number, PermuteIndex(1234, 1, 1000, 3));
}

}  // namespace
}  // namespace trainyard

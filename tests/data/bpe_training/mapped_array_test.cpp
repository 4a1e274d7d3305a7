#include "data/bpe_training/mapped_array.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>

namespace trainyard::data {
namespace {

TEST(MappedArrayTest, KeepsElementsAndAddsZeros) {
  MappedArray<uint64_t> array;
  ASSERT_TRUE(array.Resize(3));
  array[2] = 7;
  ASSERT_TRUE(array.Resize(1'000'000));
  EXPECT_EQ(array.size(), 1'000'000u);
  EXPECT_EQ(array.bytes(), 8'000'000u);
  EXPECT_EQ(array[2], 7u);
  EXPECT_EQ(array[999'999], 0u);
}

TEST(MappedArrayTest, IsUnchangedIfMemoryIsMissing) {
  MappedArray<char> array;
  ASSERT_TRUE(array.Resize(10));
  array[9] = 'x';
  EXPECT_FALSE(array.Resize(size_t{1} << 62));
  EXPECT_EQ(array.size(), 10u);
  EXPECT_EQ(array[9], 'x');
}

TEST(MappedArrayTest, MovesOwnership) {
  MappedArray<char> from;
  ASSERT_TRUE(from.Resize(10));
  from[0] = 'a';
  MappedArray<char> to = std::move(from);
  EXPECT_EQ(from.size(), 0u);
  EXPECT_EQ(to[0], 'a');
  to.Clear();
  EXPECT_EQ(to.size(), 0u);
}

}  // namespace
}  // namespace trainyard::data

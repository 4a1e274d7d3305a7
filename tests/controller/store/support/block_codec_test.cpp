#include "controller/store/support/block_codec.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace trainyard::controller {
namespace {

TEST(BlockCodecTest, OpensWhatWasSealed) {
  std::mt19937 random(1);
  std::string noise(5000, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  for (const std::string& raw :
       {std::string(), std::string("x"), std::string(100'000, 'a'), noise}) {
    const std::string block = SealBlock(raw, 42);
    EXPECT_LE(block.size(), raw.size() + 16);
    auto opened = OpenBlock(block, 42);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(*opened, raw);
  }
  EXPECT_LT(SealBlock(std::string(100'000, 'a'), 42).size(), 100u);
}

TEST(BlockCodecTest, EveryDamagedByteIsFound) {
  for (const std::size_t size : {std::size_t{10}, std::size_t{1000}}) {
    std::string block = SealBlock(std::string(size, 'a'), 42);
    for (std::size_t i = 0; i < block.size(); ++i) {
      block[i] = static_cast<char>(block[i] ^ 0x10);
      EXPECT_EQ(OpenBlock(block, 42).status().code(), absl::StatusCode::kDataLoss) << i;
      block[i] = static_cast<char>(block[i] ^ 0x10);
      EXPECT_FALSE(OpenBlock(std::string_view(block).substr(0, i), 42).ok());
    }
    EXPECT_TRUE(OpenBlock(block, 42).ok());
    EXPECT_FALSE(OpenBlock(block, 43).ok()) << "a block of another row";
  }
}

TEST(BlockCodecTest, VarintsComeBack) {
  const int64_t low = std::numeric_limits<int64_t>::min();
  const int64_t high = std::numeric_limits<int64_t>::max();
  for (const int64_t number :
       {int64_t{0}, int64_t{-1}, int64_t{1}, int64_t{127}, int64_t{-65}, low, high}) {
    std::string bytes;
    PutVarint(ZigZag(number), bytes);
    std::string_view rest = bytes;
    uint64_t taken = 0;
    ASSERT_TRUE(TakeVarint(rest, taken));
    EXPECT_EQ(UnZigZag(taken), number);
    EXPECT_TRUE(rest.empty());
  }
  std::string_view unfinished = "\xff\xff";
  uint64_t taken = 0;
  EXPECT_FALSE(TakeVarint(unfinished, taken));
}

}  // namespace
}  // namespace trainyard::controller

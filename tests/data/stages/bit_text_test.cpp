#include "data/stages/bit_text.h"

#include <gtest/gtest.h>

namespace trainyard::data {
namespace {

TEST(BitTextTest, ReadsWhatItWrote) {
  for (size_t count = 0; count < 70; ++count) {
    std::vector<bool> bits(count);
    for (size_t i = 0; i < count; ++i) bits[i] = i * i % 7 < 3;
    EXPECT_EQ(BitsOf(BitText(bits), count), bits) << count;
  }
}

TEST(BitTextTest, TheFirstBitIsTheLowestOne) {
  EXPECT_EQ(BitText({true, false, false, false, false, false, false, false, true}), "AQE=");
}

TEST(BitTextTest, MissingBitsAreFalse) {
  const std::vector<bool> bits = BitsOf("AQ==", 20);
  EXPECT_TRUE(bits[0]);
  EXPECT_EQ(std::vector<bool>(bits.begin() + 1, bits.end()), std::vector<bool>(19));
  EXPECT_EQ(BitsOf("not base64!", 3), std::vector<bool>(3));
}

}  // namespace
}  // namespace trainyard::data

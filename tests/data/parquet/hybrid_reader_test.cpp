#include "data/parquet/hybrid_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/data/parquet/thrift_bytes.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;

std::vector<uint32_t> ValuesOf(const std::string& bytes, int bit_width, size_t max = 100) {
  HybridReader reader(bytes, bit_width);
  std::vector<uint32_t> values;
  for (uint32_t value = 0; values.size() < max && reader.Next(&value);) values.push_back(value);
  return values;
}

TEST(HybridReaderTest, ReadsRunsOfEqualValues) {
  EXPECT_THAT(ValuesOf(Varint(3 << 1) + "\x05" + Varint(1 << 1) + "\x07", 3),
              ElementsAre(5, 5, 5, 7));
  EXPECT_THAT(ValuesOf(Varint(2 << 1) + "\x34\x12", 16), ElementsAre(0x1234, 0x1234));
  EXPECT_THAT(ValuesOf(Varint(1 << 1) + "\x01\x02\x03\x04", 32), ElementsAre(0x04030201));
  EXPECT_THAT(ValuesOf(Varint(2 << 1), 0), ElementsAre(0, 0));
}

// The example of the format's specification: 0 to 7 with 3 bits.
TEST(HybridReaderTest, ReadsPackedValues) {
  EXPECT_THAT(ValuesOf(Varint(1 << 1 | 1) + "\x88\xC6\xFA", 3),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(ValuesOf(Varint(1 << 1 | 1) + "\xA5", 1), ElementsAre(1, 0, 1, 0, 0, 1, 0, 1));
  EXPECT_THAT(ValuesOf(Varint(1 << 1 | 1), 0), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
}

TEST(HybridReaderTest, ReadsPackedValuesOfAllWidths) {
  for (int width = 1; width <= 32; ++width) {
    const uint64_t mask = (uint64_t{1} << width) - 1;
    std::string bytes(static_cast<size_t>(width) * 2, '\0');
    std::vector<uint32_t> expected;
    for (uint64_t i = 0; i < 16; ++i) {
      const uint64_t value = (i * 0x9E3779B97F4A7C15u >> 20) & mask;
      expected.push_back(static_cast<uint32_t>(value));
      for (int bit = 0; bit < width; ++bit) {
        const size_t place = i * static_cast<size_t>(width) + static_cast<size_t>(bit);
        if ((value >> bit) & 1) bytes[place / 8] |= static_cast<char>(1 << (place % 8));
      }
    }
    EXPECT_EQ(ValuesOf(Varint(2 << 1 | 1) + bytes, width), expected) << width;
  }
}

TEST(HybridReaderTest, StopsAtTheEndAndAtDamage) {
  EXPECT_THAT(ValuesOf("", 3), ElementsAre());
  EXPECT_THAT(ValuesOf("\x80", 3), ElementsAre());                   // a cut length
  EXPECT_THAT(ValuesOf(std::string(10, '\xFF'), 3), ElementsAre());  // a length of 70 bits
  EXPECT_THAT(ValuesOf(Varint(uint64_t{1} << 35) + "\x01", 3, 8), ElementsAre());  // of 36 bits
  EXPECT_THAT(ValuesOf(Varint(5 << 1), 3), ElementsAre());                         // no value
  EXPECT_THAT(ValuesOf(Varint(0 << 1) + "\x01", 3), ElementsAre());                // an empty run
  EXPECT_THAT(ValuesOf(Varint(100 << 1 | 1) + "\x88\xC6", 3), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(ValuesOf(Varint(uint64_t{0xFFFFFFFF}) + "\x01", 1, 8).size(), 8u);
}

}  // namespace
}  // namespace trainyard::data

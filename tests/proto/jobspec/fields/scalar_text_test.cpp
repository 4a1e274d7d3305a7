#include "proto/jobspec/fields/scalar_text.h"

#include "gtest/gtest.h"

namespace trainyard {
namespace {

int64_t Integer(const std::string& text, v1::Unit unit) {
  const auto value = ParseInteger(text, unit);
  return value.ok() ? static_cast<int64_t>(*value) : -1;
}

TEST(ScalarTextTest, ReadsExactIntegers) {
  EXPECT_EQ(Integer("300", v1::UNIT_STEPS), 300);
  EXPECT_EQ(Integer("1e6", v1::UNIT_STEPS), 1000000);
  EXPECT_EQ(Integer("1_000_000", v1::UNIT_UNSPECIFIED), 1000000);
  EXPECT_EQ(Integer("1.5e3", v1::UNIT_UNSPECIFIED), 1500);
  EXPECT_EQ(Integer("20B", v1::UNIT_TOKENS), 20000000000);
  EXPECT_EQ(Integer("1.5T", v1::UNIT_TOKENS), 1500000000000);
  EXPECT_EQ(Integer("64KiB", v1::UNIT_BYTES), 65536);
  EXPECT_EQ(Integer("0.5 GiB", v1::UNIT_BYTES), 536870912);
  EXPECT_EQ(Integer("2kB", v1::UNIT_BYTES), 2000);
}

TEST(ScalarTextTest, RefusesWhatIsNoExactInteger) {
  for (const char* text : {"", "1.5", "1e-1", "0x10", "ten", "1e", "1e99", "--1", "1 2", "nan",
                           "99999999999999999999999", "20B", "5K"}) {
    EXPECT_FALSE(ParseInteger(text, v1::UNIT_UNSPECIFIED).ok()) << text;
  }
}

TEST(ScalarTextTest, ReadsNumbers) {
  EXPECT_DOUBLE_EQ(*ParseNumber("3e-4"), 3e-4);
  EXPECT_DOUBLE_EQ(*ParseNumber("1"), 1.0);
  for (const char* text : {"nan", "inf", "", "1,5", "3e-4x"}) {
    EXPECT_FALSE(ParseNumber(text).ok()) << text;
  }
}

TEST(ScalarTextTest, ReadsDurations) {
  EXPECT_EQ(*ParseDurationMs("30s"), 30000);
  EXPECT_EQ(*ParseDurationMs("1h30m"), 5400000);
  EXPECT_EQ(*ParseDurationMs("250ms"), 250);
  EXPECT_EQ(*ParseDurationMs("0.5s"), 500);
  EXPECT_EQ(*ParseDurationMs("2d"), 172800000);
  EXPECT_EQ(*ParseDurationMs("0"), 0);
  for (const char* text : {"", "30", "s", "-5s", "5 minutes", "1e3s", "5x", "99999999999999d"}) {
    EXPECT_FALSE(ParseDurationMs(text).ok()) << text;
  }
}

}  // namespace
}  // namespace trainyard

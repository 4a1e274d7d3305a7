#include "controller/planner/amount.h"

#include "gtest/gtest.h"

namespace trainyard::planner {
namespace {

void ExpectAmount(const std::string& text, double value, double half_unit) {
  const std::optional<Amount> amount = ReadAmount(text);
  ASSERT_TRUE(amount.has_value()) << text;
  EXPECT_NEAR(amount->value, value, value * 1e-12) << text;
  EXPECT_NEAR(amount->half_unit, half_unit, half_unit * 1e-9) << text;
}

TEST(AmountTest, ReadsUnitsPowersAndTheirLastDigits) {
  ExpectAmount("56B", 56e9, 0.5e9);
  ExpectAmount("1.545B", 1.545e9, 0.5e6);
  ExpectAmount("14.8T", 14.8e12, 0.05e12);
  ExpectAmount("1.36e21", 1.36e21, 0.5e19);
  ExpectAmount("101909M", 101909e6, 0.5e6);
  ExpectAmount("12k", 12e3, 0.5e3);
  ExpectAmount("300", 300, 0.5);
  ExpectAmount("0.97", 0.97, 0.005);
}

TEST(AmountTest, RefusesOtherTexts) {
  for (const char* text :
       {"", "B", "many", "1X", "1BB", "-5", "1 B", "nan", "inf", "0x10", "1e999"}) {
    EXPECT_FALSE(ReadAmount(text).has_value()) << text;
  }
}

TEST(AmountTest, WritesThreeDigits) {
  EXPECT_EQ(AmountText(46702792704.0), "46.7B");
  EXPECT_EQ(AmountText(999.6e9), "1T");
  EXPECT_EQ(AmountText(16e9), "16B");
  EXPECT_EQ(AmountText(512), "512");
}

}  // namespace
}  // namespace trainyard::planner

#include "controller/price_setting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

std::string ErrorOf(const std::string& yaml, const PriceSetting& flags = {}) {
  const auto price = ReadGpuPrice(yaml, flags);
  return price.ok() ? "" : std::string(price.status().message());
}

TEST(PriceSettingTest, WithoutASettingThereIsNoPrice) {
  for (const char* yaml : {"", "cost:", "retention: {logs: 30d}"}) {
    const auto price = ReadGpuPrice(yaml, {});
    ASSERT_TRUE(price.ok()) << price.status();
    EXPECT_EQ(price->per_hour, 0);
    EXPECT_EQ(price->currency, "");
  }
}

TEST(PriceSettingTest, ReadsTheFileAndFlagsReplaceItsValues) {
  const std::string yaml = "cost:\n  gpu_hour_price: 2.10\n  currency: USD\n";
  const auto file = ReadGpuPrice(yaml, {});
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_DOUBLE_EQ(file->per_hour, 2.1);
  EXPECT_EQ(file->currency, "USD");
  const auto both = ReadGpuPrice(yaml, {.gpu_hour_price = "3"});
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_DOUBLE_EQ(both->per_hour, 3);
  EXPECT_EQ(both->currency, "USD");
  const auto flags = ReadGpuPrice("", {.gpu_hour_price = "0.5", .currency = "€"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_DOUBLE_EQ(flags->per_hour, 0.5);
  EXPECT_EQ(flags->currency, "€");
}

TEST(PriceSettingTest, RefusesAPriceThatIsNoPositiveNumber) {
  for (const char* price : {"0", "-1", "nan", "inf", "1000001", "two", "2.10 USD"}) {
    EXPECT_THAT(ErrorOf("", {.gpu_hour_price = price}), HasSubstr("gpu_hour_price: `")) << price;
  }
  EXPECT_EQ(ErrorOf("", {.gpu_hour_price = "1000000"}), "");
}

TEST(PriceSettingTest, RefusesALongOrUnprintableCurrency) {
  for (const char* currency : {"thirteen-byte", "U D", "U\nD", "U,D", "\"", "\xff"}) {
    EXPECT_THAT(ErrorOf("", {.gpu_hour_price = "1", .currency = currency}), HasSubstr("currency:"))
        << currency;
  }
  EXPECT_EQ(ErrorOf("", {.gpu_hour_price = "1", .currency = "twelve-bytes"}), "");
}

TEST(PriceSettingTest, RefusesACurrencyWithoutAPriceAndUnknownKeys) {
  EXPECT_THAT(ErrorOf("cost: {currency: USD}"), HasSubstr("set gpu_hour_price"));
  EXPECT_THAT(ErrorOf("cost: {price: 2}"), HasSubstr("the keys are gpu_hour_price and currency"));
  EXPECT_EQ(ErrorOf("cost: 2"), "cost: is not a map");
  EXPECT_THAT(ErrorOf("cost: {gpu_hour_price: [2]}"), HasSubstr("cost: "));
}

}  // namespace
}  // namespace trainyard::controller

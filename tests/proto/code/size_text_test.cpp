#include "proto/code/size_text.h"

#include "gtest/gtest.h"

namespace trainyard::code {
namespace {

TEST(SizeTextTest, UsesPowersOfAThousand) {
  EXPECT_EQ(DecimalSize(0), "0 B");
  EXPECT_EQ(DecimalSize(999), "999 B");
  EXPECT_EQ(DecimalSize(8'100'000), "8.1 MB");
  EXPECT_EQ(DecimalSize(999'990), "1.0 MB");
  EXPECT_EQ(DecimalSize(41'000'000'000), "41.0 GB");
}

TEST(SizeTextTest, GroupsDigits) {
  EXPECT_EQ(GroupedNumber(0), "0");
  EXPECT_EQ(GroupedNumber(999), "999");
  EXPECT_EQ(GroupedNumber(1204), "1,204");
  EXPECT_EQ(GroupedNumber(20'000'000), "20,000,000");
  EXPECT_EQ(GroupedNumber(-1204), "-1,204");
}

}  // namespace
}  // namespace trainyard::code

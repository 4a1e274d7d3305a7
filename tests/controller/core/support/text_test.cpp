#include "controller/core/support/text.h"

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(TextTest, DurationsReadWell) {
  EXPECT_EQ(DurationText(850), "850 ms");
  EXPECT_EQ(DurationText(3200), "3.2 s");
  EXPECT_EQ(DurationText(8000), "8 s");
  EXPECT_EQ(DurationText(45400), "45 s");
  EXPECT_EQ(DurationText(300000), "5 min");
  EXPECT_EQ(DurationText(86400000), "24 h");
}

TEST(TextTest, DurationsChangeTheirUnitAtTheBoundary) {
  EXPECT_EQ(DurationText(999), "999 ms");
  EXPECT_EQ(DurationText(1000), "1 s");
  EXPECT_EQ(DurationText(9900), "9.9 s");
  EXPECT_EQ(DurationText(10'500), "10 s");
  EXPECT_EQ(DurationText(119'999), "119 s");
  EXPECT_EQ(DurationText(120'000), "2 min");
  EXPECT_EQ(DurationText(7'199'999), "119 min");
  EXPECT_EQ(DurationText(7'200'000), "2 h");
}

TEST(TextTest, LengthsUpToTheLimitAreAccepted) {
  EXPECT_TRUE(CheckLength("reason", "abc", 3).ok());
  EXPECT_EQ(CheckLength("reason", "abcd", 3).message(), "the reason is longer than 3 bytes");
}

TEST(TextTest, ShapesReadWell) {
  EXPECT_EQ(ShapeText(1, 1, v1::DEVICE_KIND_CPU), "1 node with 1 cpu slot");
  EXPECT_EQ(ShapeText(2, 8, v1::DEVICE_KIND_GPU), "2 nodes with 8 gpu slots each");
  EXPECT_EQ(ShapeText(1, 2, v1::DEVICE_KIND_CPU), "1 node with 2 cpu slots");
  EXPECT_EQ(ShapeText(2, 1, v1::DEVICE_KIND_CPU), "2 nodes with 1 cpu slot each");
}

}  // namespace
}  // namespace trainyard::controller

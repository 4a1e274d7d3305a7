#include "controller/core/text.h"

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

TEST(TextTest, ShapesReadWell) {
  EXPECT_EQ(ShapeText(1, 1, v1::DEVICE_KIND_CPU), "1 node with 1 cpu slot");
  EXPECT_EQ(ShapeText(2, 8, v1::DEVICE_KIND_GPU), "2 nodes with 8 gpu slots each");
}

}  // namespace
}  // namespace trainyard::controller

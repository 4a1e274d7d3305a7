#include "controller/core/support/text.h"

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

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

#include "trainer/checkpoint_tools/commands/value_difference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace trainyard::trainer {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

ValueDifference Compared(const torch::Tensor& a, const torch::Tensor& b) {
  return CompareValues(a.scalar_type(), static_cast<const char*>(a.data_ptr()),
                       static_cast<const char*>(b.data_ptr()), a.numel());
}

ValueDifference Compared(const std::vector<float>& a, const std::vector<float>& b) {
  return Compared(torch::tensor(a), torch::tensor(b));
}

TEST(ValueDifferenceTest, MeasuresWhatDiffers) {
  const ValueDifference difference = Compared(std::vector<float>{3, 4, 0, 1}, {3, 4.5, -2, 1});
  EXPECT_EQ(difference.elements, 4);
  EXPECT_EQ(difference.different, 2);
  EXPECT_EQ(difference.max_abs, 2);
  EXPECT_DOUBLE_EQ(difference.RelativeL2(), std::sqrt(4.25) / std::sqrt(26.0));
  EXPECT_FALSE(difference.IsWithin(0.4));
  EXPECT_TRUE(difference.IsWithin(0.41));
}

TEST(ValueDifferenceTest, EqualBitsAreWithinEveryTolerance) {
  const ValueDifference difference =
      Compared(std::vector<float>{1, kNan, kInfinity}, {1, kNan, kInfinity});
  EXPECT_EQ(difference.different, 0);
  EXPECT_EQ(difference.nan_a, 1);
  EXPECT_EQ(difference.nan_b, 1);
  EXPECT_EQ(difference.RelativeL2(), 0);
  EXPECT_TRUE(difference.IsWithin(0));
  EXPECT_TRUE(difference.IsWithin(1e-9));
}

// 0 and -0 are equal numbers, but their bits differ.
TEST(ValueDifferenceTest, ToleranceZeroMeansBits) {
  const ValueDifference difference = Compared(std::vector<float>{0.0f}, {-0.0f});
  EXPECT_EQ(difference.different, 1);
  EXPECT_EQ(difference.max_abs, 0);
  EXPECT_FALSE(difference.IsWithin(0));
  EXPECT_TRUE(difference.IsWithin(1e-30));
}

TEST(ValueDifferenceTest, ANanOnOneSideIsOutsideOfEveryTolerance) {
  const ValueDifference difference = Compared(std::vector<float>{1, 2}, {kNan, 2.5});
  EXPECT_EQ(difference.different, 2);
  EXPECT_EQ(difference.nan_a, 0);
  EXPECT_EQ(difference.nan_b, 1);
  EXPECT_EQ(difference.max_abs, 0.5) << "of the pair of numbers";
  EXPECT_FALSE(difference.IsWithin(1000));
}

TEST(ValueDifferenceTest, InfiniteWhereNothingIsToCompareWith) {
  EXPECT_TRUE(std::isinf(Compared(std::vector<float>{0}, {1e-20f}).RelativeL2()));
  const ValueDifference difference = Compared(std::vector<float>{1, kInfinity}, {kInfinity, 1});
  EXPECT_TRUE(std::isinf(difference.max_abs));
  EXPECT_TRUE(std::isinf(difference.RelativeL2()));
  EXPECT_FALSE(difference.IsWithin(1e300));
}

TEST(ValueDifferenceTest, ComparesEveryDtype) {
  for (const torch::ScalarType dtype :
       {torch::kFloat32, torch::kBFloat16, torch::kFloat16, torch::kFloat64, torch::kInt64,
        torch::kInt32, torch::kInt16, torch::kInt8, torch::kUInt8}) {
    const torch::Tensor a = torch::tensor({1, 2, 3, 4}).to(dtype);
    const torch::Tensor b = torch::tensor({1, 2, 7, 4}).to(dtype);
    const ValueDifference difference = Compared(a, b);
    EXPECT_EQ(difference.different, 1) << c10::toString(dtype);
    EXPECT_EQ(difference.max_abs, 4) << c10::toString(dtype);
    EXPECT_DOUBLE_EQ(difference.RelativeL2(), 4 / std::sqrt(30.0)) << c10::toString(dtype);
  }
  EXPECT_EQ(Compared(torch::tensor({true, false}), torch::tensor({true, true})).different, 1);
}

// Several threads compare parts of a large tensor. The result must cover all parts.
TEST(ValueDifferenceTest, LargeTensorsAreComparedToTheirEnd) {
  const torch::Tensor a = torch::ones({(3 << 20) + 5});
  torch::Tensor b = a.clone();
  b[0] = 2;
  b[(2 << 20) + 1] = 3;
  b[-1] = kNan;
  const ValueDifference difference = Compared(a, b);
  EXPECT_EQ(difference.elements, a.numel());
  EXPECT_EQ(difference.different, 3);
  EXPECT_EQ(difference.unpaired_nan, 1);
  EXPECT_EQ(difference.max_abs, 2);
  EXPECT_EQ(difference.squared_a, static_cast<double>(a.numel()));
  EXPECT_EQ(difference.squared_difference, 5);
}

}  // namespace
}  // namespace trainyard::trainer

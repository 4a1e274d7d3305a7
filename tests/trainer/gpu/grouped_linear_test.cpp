#include "trainer/ops/experts/grouped_linear.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/trainer/gpu/accuracy.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

struct GroupedShape {
  int64_t in;
  int64_t out;
  RowSegments segments;
};

// In bf16, sizes that are multiples of 8 and not large use LibTorch's grouped product. All other
// sizes use a loop over the experts.
const GroupedShape kGroupedShapes[] = {
    {64, 48, {5, 0, 130, 1, 0}},
    {7, 5, {3, 0, 4, 127}},
    {64, 48, {0, 0, 300}},
    {33, 64, {1}},
    {256, 512, {257, 255, 128, 384}},
    {2048, 4096, {0, 6001, 1999, 2}},  // A loop in bf16.
};

int64_t RowsOf(const GroupedShape& shape) {
  return std::accumulate(shape.segments.begin(), shape.segments.end(), int64_t{0});
}

double GroupedTolerance(torch::ScalarType type) {
  return type == torch::kFloat32 ? kLongSumTolerance : 5e-5;
}

struct GroupedCase {
  Tensor x, weight, dy, gradient;
};

GroupedCase RandomGrouped(const GroupedShape& shape, torch::ScalarType type) {
  const auto experts = static_cast<int64_t>(shape.segments.size());
  return {.x = RandomOnGpu({RowsOf(shape), shape.in}, type),
          .weight = RandomOnGpu({experts, shape.out, shape.in}, type),
          .dy = RandomOnGpu({RowsOf(shape), shape.out}, type),
          .gradient = RandomOnGpu({experts, shape.out, shape.in}, torch::kFloat32)};
}

GroupedCase WideCase(const GroupedCase& c) {
  return {Wide(c.x), Wide(c.weight), Wide(c.dy), Wide(c.gradient)};
}

void ExpectExactProducts(const GroupedShape& shape, torch::ScalarType type) {
  const GroupedCase c = RandomGrouped(shape, type), wide = WideCase(c);
  const double tolerance = GroupedTolerance(type);
  // fp64 uses the plain version on a GPU.
  ExpectAccurate(GroupedLinearForward(c.x, c.weight, shape.segments),
                 GroupedLinearForward(wide.x, wide.weight, shape.segments), tolerance);
  ExpectAccurate(GroupedLinearInputGradient(c.dy, c.weight, shape.segments),
                 GroupedLinearInputGradient(wide.dy, wide.weight, shape.segments), tolerance);
  const Tensor exact = torch::zeros_like(wide.gradient);
  GroupedLinearWeightGradient(wide.dy, wide.x, shape.segments, {exact, false});
  const Tensor first = Poisoned(c.gradient.sizes(), torch::kFloat32), sum = c.gradient.clone();
  GroupedLinearWeightGradient(c.dy, c.x, shape.segments, {first, false});
  ExpectAccurate(first, exact, tolerance);
  GroupedLinearWeightGradient(c.dy, c.x, shape.segments, {sum, true});
  ExpectAccurate(sum, exact + wide.gradient, tolerance);
}

TEST(GroupedLinearGpuTest, EqualsExactProductsForEveryShape) {
  torch::manual_seed(1);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const GroupedShape& shape : kGroupedShapes) {
      SCOPED_TRACE(ShapeName(type, {shape.in, shape.out, RowsOf(shape)}));
      ExpectExactProducts(shape, type);
    }
  }
}

TEST(GroupedLinearGpuTest, NoRowsAtAll) {
  for (const torch::ScalarType type : kGpuTypes) {
    const GroupedCase c = RandomGrouped({64, 48, {0, 0}}, type);
    EXPECT_EQ(GroupedLinearForward(c.x, c.weight, {0, 0}).sizes(), (std::vector<int64_t>{0, 48}));
    EXPECT_EQ(GroupedLinearInputGradient(c.dy, c.weight, {0, 0}).numel(), 0);
    const Tensor gradient = Poisoned(c.gradient.sizes(), torch::kFloat32);
    GroupedLinearWeightGradient(c.dy, c.x, {0, 0}, {gradient, false});
    EXPECT_EQ(NormOf(gradient), 0);
  }
}

// Multiplies counts that share an algorithm in both orders. A product must never use the count of
// an earlier product.
TEST(GroupedLinearGpuTest, CountsThatRoundToTheSameNumber) {
  torch::manual_seed(2);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t last : {1, 64, 127, 128}) {
      ExpectExactProducts({2056, 4096, {8192 - 128 + last, 8192, 8192 - 127}}, type);
    }
  }
}

TEST(GroupedLinearGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(3);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const GroupedShape& shape : kGroupedShapes) {
      const GroupedCase c = RandomGrouped(shape, type);
      ExpectSameBitsInEveryRun([&] {
        const Tensor sum = c.gradient.clone();
        GroupedLinearWeightGradient(c.dy, c.x, shape.segments, {sum, true});
        return std::vector<Tensor>{GroupedLinearForward(c.x, c.weight, shape.segments),
                                   GroupedLinearInputGradient(c.dy, c.weight, shape.segments), sum};
      });
    }
  }
}

}  // namespace
}  // namespace trainyard::trainer

#include "trainer/ops/rotary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/trainer/ops/gradient_check.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr AttentionHeads kHeads{4, 2, 6};

RotaryTable Table(int64_t positions, int64_t size) {
  return MakeRotaryTable(positions, size, 10000, torch::kFloat64, torch::kCPU);
}

TEST(RotaryTest, TableHoldsTheAngles) {
  const RotaryTable table = Table(8, 6);
  const double angle = 5.0 * std::pow(10000.0, -2.0 * 2 / 6);
  EXPECT_NEAR(table.cos[5][2].item<double>(), std::cos(angle), 1e-14);
  EXPECT_NEAR(table.sin[5][2].item<double>(), std::sin(angle), 1e-14);
}

TEST(RotaryTest, SplitsPackedRowsAndTurnsQueryAndKeyOnly) {
  torch::manual_seed(1);
  const Tensor packed = RandomDouble({2, 5, 8 * 6});
  const RotaryTable table = Table(5, 6);
  const auto [query, key, value] = SplitAndRotate(packed, table, kHeads);
  const Tensor heads = packed.view({2, 5, 8, 6}).transpose(1, 2);
  EXPECT_TRUE(value.equal(heads.narrow(1, 6, 2)));
  const auto turned = [&](const Tensor& x) {
    const Tensor a = x.narrow(-1, 0, 3), b = x.narrow(-1, 3, 3);
    return torch::cat({a * table.cos - b * table.sin, b * table.cos + a * table.sin}, -1);
  };
  EXPECT_LT(RelativeError(query, turned(heads.narrow(1, 0, 4))), 1e-14);
  EXPECT_LT(RelativeError(key, turned(heads.narrow(1, 4, 2))), 1e-14);
}

TEST(RotaryTest, ProductsDependOnTheDistanceOnly) {
  torch::manual_seed(2);
  const Tensor row = RandomDouble({1, 1, 3 * 6}).repeat({1, 9, 1});
  const auto parts = SplitAndRotate(row, Table(9, 6), {1, 1, 6});
  const auto product = [&](int64_t i, int64_t j) {
    return parts.query[0][0][i].dot(parts.key[0][0][j]).item<double>();
  };
  EXPECT_NEAR(product(7, 4), product(3, 0), 1e-12);
  EXPECT_GT(std::abs(product(7, 4) - product(7, 0)), 1e-6);
}

TEST(RotaryTest, GradientsEqualFiniteDifferences) {
  torch::manual_seed(3);
  const RotaryTable table = Table(3, 4);
  const auto function = [&](const std::vector<Tensor>& in) {
    const auto parts = SplitAndRotate(in[0], table, {2, 1, 4});
    return Project(parts.query) + 2 * Project(parts.key) - Project(parts.value);
  };
  EXPECT_LT(GradientError(function, {RandomDouble({2, 3, 4 * 4})}), 1e-7);
}

TEST(RotaryTest, SixteenBitIsTurnedInSinglePrecision) {
  torch::manual_seed(4);
  const Tensor packed = torch::randn({1, 4, 8 * 6}).to(torch::kBFloat16);
  const RotaryTable single = MakeRotaryTable(4, 6, 10000, torch::kFloat32, torch::kCPU);
  const auto low = SplitAndRotate(packed, single, kHeads);
  const auto high = SplitAndRotate(packed.to(torch::kFloat32), single, kHeads);
  EXPECT_TRUE(low.query.equal(high.query.to(torch::kBFloat16)));
}

}  // namespace
}  // namespace trainyard::trainer

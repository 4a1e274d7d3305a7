#include "trainer/ops/optimizer/normal_values.h"

#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Mathematical functions of a GPU and a CPU differ in the last bits of an fp64 number, so almost
// all fp32 numbers are equal.
TEST(NormalValuesGpuTest, EqualsTheCpuButForTheLastBit) {
  const PlaceInMatrix place{1'000'003, 3001};
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{1, 1}, {700, 1501}, {0, 4}}) {
    Tensor expected = torch::empty(shape, torch::kFloat32);
    FillNormal(42, 0.02, place, expected);
    Tensor values = torch::full(shape, -9, OnGpu(torch::kFloat32));
    FillNormal(42, 0.02, place, values);
    const Tensor here = values.cpu();
    EXPECT_TRUE(here.allclose(expected, /*rtol=*/2e-7, /*atol=*/0));
    const double different = here.ne(expected).sum().item<double>();
    EXPECT_LE(different, 1e-4 * static_cast<double>(here.numel()));
  }
}

TEST(NormalValuesGpuTest, APartEqualsThatPartOfTheWhole) {
  Tensor whole = torch::empty({60, 101}, OnGpu(torch::kFloat32));
  FillNormal(7, 1, {0, 101}, whole);
  Tensor part = torch::empty({20, 33}, OnGpu(torch::kFloat32));
  FillNormal(7, 1, {11 * 101 + 5, 101}, part);
  EXPECT_TRUE(part.equal(whole.narrow(0, 11, 20).narrow(1, 5, 33)));
}

}  // namespace
}  // namespace trainyard::trainer

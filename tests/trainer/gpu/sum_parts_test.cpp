#include "trainer/ops/sum_parts.h"

#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Returns the result of the plain version, on the CPU.
Tensor Plain(const std::vector<Tensor>& parts, const Tensor& residual) {
  std::vector<Tensor> on_host;
  for (const Tensor& part : parts) on_host.push_back(part.cpu());
  Tensor sum = torch::empty_like(on_host.front());
  SumParts(on_host, residual.defined() ? residual.cpu() : residual, sum);
  return sum;
}

// Widths with and without whole vectors, and memory at odd addresses.
TEST(SumPartsGpuTest, HasTheBitsOfThePlainVersion) {
  torch::manual_seed(1);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t width : {1, 7, 64, 1000, 65537}) {
      std::vector<Tensor> parts;
      for (int64_t count = 1; count <= 8; ++count) {
        SCOPED_TRACE(ShapeName(type, {count, width}));
        parts.push_back(RandomOnGpu({width}, type));
        const Tensor residual = RandomOnGpu({width}, type);
        Tensor sum = Poisoned({width}, type);
        SumParts(parts, Tensor(), sum);
        EXPECT_TRUE(sum.cpu().equal(Plain(parts, Tensor())));
        SumParts(parts, AtOddAddress(residual), sum);
        EXPECT_TRUE(sum.cpu().equal(Plain(parts, residual)));
      }
    }
  }
}

}  // namespace
}  // namespace trainyard::trainer

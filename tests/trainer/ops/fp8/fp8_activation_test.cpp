#include "trainer/ops/fp8/fp8_activation.h"

#include <gtest/gtest.h>

#include "trainer/ops/activation.h"
#include "trainer/ops/fp8/fp8.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

Fp8Scale FreshScale(float scale) {
  return {.scale = torch::full({1}, scale), .amax = torch::zeros({1})};
}

// Returns the numbers of a matrix in FP8.
Tensor NumbersOf(const Fp8Matrix& matrix) {
  return Fp8Numbers(matrix.rows, matrix.format) * matrix.inverse_scale;
}

TEST(Fp8ActivationTest, ForwardIsTheRoundedActivation) {
  torch::manual_seed(1);
  const Tensor packed = torch::randn({32, 96});
  const Fp8Scale scale = FreshScale(64);
  const Fp8Matrix matrix = SwiGluForwardToFp8(packed, scale, Fp8Arrangement::kBoth);
  const Tensor expected = at::silu(packed.narrow(1, 0, 48)) * packed.narrow(1, 48, 48);
  EXPECT_EQ(matrix.format, Fp8Format::kE4M3);
  // E4M3 has 3 digits after the leading one, and the smallest number here is 2^-9 / 64.
  EXPECT_TRUE(NumbersOf(matrix).allclose(expected, 1.0 / 16, 1.0 / 65536));
  EXPECT_TRUE(matrix.columns.equal(matrix.rows.t()));
  EXPECT_EQ(scale.amax.item<float>(), expected.abs().max().item<float>());
}

TEST(Fp8ActivationTest, BackwardIsTheRoundedGradientOfBothHalves) {
  torch::manual_seed(2);
  const Tensor packed = torch::randn({32, 96}).requires_grad_(), dout = torch::randn({32, 48});
  (at::silu(packed.narrow(1, 0, 48)) * packed.narrow(1, 48, 48)).backward(dout);
  const Fp8Scale scale = FreshScale(1024);
  const Fp8Matrix matrix = SwiGluBackwardToFp8(dout, packed.detach(), scale);
  EXPECT_EQ(matrix.format, Fp8Format::kE5M2);
  EXPECT_TRUE(NumbersOf(matrix).allclose(packed.grad(), 1.0 / 8, 1.0 / 65536));
  EXPECT_TRUE(matrix.columns.equal(matrix.rows.t()));
  EXPECT_FLOAT_EQ(scale.amax.item<float>(), packed.grad().abs().max().item<float>());
}

// A second use of the scale, as in recomputation, records nothing.
TEST(Fp8ActivationTest, RecordsOnlyWithAnAmax) {
  const Tensor packed = torch::ones({16, 32});
  const Fp8Scale scale{torch::full({1}, 8.0F), Tensor()};
  const Fp8Matrix columns = SwiGluForwardToFp8(packed, scale, Fp8Arrangement::kColumns);
  EXPECT_FALSE(columns.rows.defined());
  EXPECT_EQ(columns.columns.sizes(), (torch::IntArrayRef{16, 16}));
}

}  // namespace
}  // namespace trainyard::trainer

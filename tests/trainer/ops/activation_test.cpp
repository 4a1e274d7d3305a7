#include "trainer/ops/activation.h"

#include <gtest/gtest.h>

#include "tests/trainer/ops/gradient_check.h"
#include "tests/trainer/ops/references.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

TEST(SwiGluTest, GatesTheSecondHalfWithTheFirst) {
  torch::manual_seed(1);
  const Tensor packed = RandomDouble({4, 10});
  Tensor out = torch::empty({4, 5}, torch::kFloat64);
  SwiGluForward(packed, out);
  EXPECT_LT(RelativeError(out, reference::SwiGlu(packed)), 1e-14);
}

TEST(SwiGluTest, GradientEqualsAutogradsAlsoInTheMemoryOfItsInput) {
  torch::manual_seed(2);
  Tensor packed = RandomDouble({3, 8});
  const Tensor result = reference::SwiGlu(packed);
  const Tensor dout = OutputWeights(result);
  const auto expected =
      AutogradGradients([](const auto& in) { return reference::SwiGlu(in[0]); }, {packed});
  Tensor d_packed = torch::empty_like(packed), no_result;
  SwiGluBackward(dout, packed, d_packed, no_result);
  EXPECT_LT(RelativeError(d_packed, expected[0]), 1e-14);
  Tensor again = torch::empty_like(result);
  SwiGluBackward(dout, packed, packed, again);
  EXPECT_TRUE(packed.equal(d_packed));
  EXPECT_LT(RelativeError(again, result), 1e-14);
}

struct Ungated {
  Activation kind;
  Tensor (*formula)(const Tensor& x);
};

class UngatedTest : public ::testing::TestWithParam<Ungated> {};

TEST_P(UngatedTest, IsTheFormula) {
  torch::manual_seed(3);
  const Tensor x = RandomDouble({4, 10}) * 2;
  Tensor out = torch::empty_like(x);
  ActivationForward(GetParam().kind, x, out);
  EXPECT_LT(RelativeError(out, GetParam().formula(x)), 1e-14);
}

TEST_P(UngatedTest, GradientEqualsAutogradsAlsoInTheMemoryOfItsInput) {
  torch::manual_seed(4);
  Tensor x = RandomDouble({3, 8});
  const Tensor result = GetParam().formula(x), dout = OutputWeights(result);
  const auto expected =
      AutogradGradients([](const auto& in) { return GetParam().formula(in[0]); }, {x});
  Tensor dx = torch::empty_like(x), no_result;
  ActivationBackward(GetParam().kind, dout, x, dx, no_result);
  EXPECT_LT(RelativeError(dx, expected[0]), 1e-14);
  Tensor again = torch::empty_like(result);
  ActivationBackward(GetParam().kind, dout, x, x, again);
  EXPECT_TRUE(x.equal(dx));
  EXPECT_LT(RelativeError(again, result), 1e-14);
}

TEST_P(UngatedTest, SixteenBitIsComputedInSinglePrecision) {
  torch::manual_seed(5);
  const Tensor x = torch::randn({3, 8}).to(torch::kBFloat16), wide = x.to(torch::kFloat32);
  const Tensor dout = torch::randn({3, 8}).to(torch::kBFloat16);
  Tensor out = torch::empty_like(x), wide_out = torch::empty_like(wide), unused;
  ActivationForward(GetParam().kind, x, out);
  ActivationForward(GetParam().kind, wide, wide_out);
  EXPECT_TRUE(out.equal(wide_out.to(torch::kBFloat16)));
  Tensor dx = torch::empty_like(x), wide_dx = torch::empty_like(wide);
  ActivationBackward(GetParam().kind, dout, x, dx, unused);
  ActivationBackward(GetParam().kind, dout.to(torch::kFloat32), wide, wide_dx, unused);
  EXPECT_TRUE(dx.equal(wide_dx.to(torch::kBFloat16)));
}

INSTANTIATE_TEST_SUITE_P(Kinds, UngatedTest,
                         ::testing::Values(Ungated{Activation::kGelu, reference::Gelu},
                                           Ungated{Activation::kGeluTanh, reference::GeluTanh},
                                           Ungated{Activation::kSquaredRelu,
                                                   reference::SquaredRelu}));

TEST(ActivationTest, SwigluIsOneOfThem) {
  torch::manual_seed(6);
  const Tensor packed = RandomDouble({4, 10});
  Tensor out = torch::empty({4, 5}, torch::kFloat64);
  ActivationForward(Activation::kSwiglu, packed, out);
  EXPECT_LT(RelativeError(out, reference::SwiGlu(packed)), 1e-14);
}

}  // namespace
}  // namespace trainyard::trainer

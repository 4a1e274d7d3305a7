#include "trainer/ops/experts/scaled_activation.h"

#include <gtest/gtest.h>

#include "tests/trainer/ops/gradient_check.h"
#include "tests/trainer/ops/references.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr Activation kKinds[] = {Activation::kSwiglu, Activation::kSquaredRelu};

int64_t PackedWidth(Activation kind, int64_t width) {
  return kind == Activation::kSwiglu ? 2 * width : width;
}

Tensor Reference(Activation kind, const Tensor& packed, const Tensor& scales) {
  const Tensor result =
      kind == Activation::kSwiglu ? reference::SwiGlu(packed) : reference::SquaredRelu(packed);
  return result * scales.unsqueeze(1);
}

TEST(ScaledActivationTest, ResultAndGradientsEqualAutograds) {
  torch::manual_seed(1);
  for (const Activation kind : kKinds) {
    const Tensor packed = RandomDouble({5, PackedWidth(kind, 4)}), scales = RandomDouble({5});
    Tensor out = torch::empty({5, 4}, torch::kFloat64);
    ScaledActivationForward(kind, packed, scales, out);
    EXPECT_LT(RelativeError(out, Reference(kind, packed, scales)), 1e-14);
    const auto expected = AutogradGradients(
        [kind](const auto& in) { return Reference(kind, in[0], in[1]); }, {packed, scales});
    Tensor d_packed = torch::empty_like(packed), again = torch::empty_like(out);
    const Tensor d_scales =
        ScaledActivationBackward(kind, OutputWeights(out), packed, scales, d_packed, again);
    EXPECT_LT(RelativeError(d_packed, expected[0]), 1e-14);
    EXPECT_LT(RelativeError(d_scales, expected[1]), 1e-14);
    EXPECT_TRUE(again.equal(out));
    Tensor over = packed.clone(), none;
    ScaledActivationBackward(kind, OutputWeights(out), over, scales, over, none);
    EXPECT_TRUE(over.equal(d_packed));
  }
}

TEST(ScaledActivationTest, SixteenBitResultsAreRoundedOnce) {
  torch::manual_seed(2);
  const Tensor packed = torch::randn({5, 8}).to(torch::kBFloat16), scales = torch::rand({5});
  Tensor out = torch::empty({5, 4}, torch::kBFloat16), wide = torch::empty({5, 4});
  ScaledActivationForward(Activation::kSwiglu, packed, scales, out);
  ScaledActivationForward(Activation::kSwiglu, packed.to(torch::kFloat32), scales, wide);
  EXPECT_TRUE(out.equal(wide.to(torch::kBFloat16)));
}

}  // namespace
}  // namespace trainyard::trainer

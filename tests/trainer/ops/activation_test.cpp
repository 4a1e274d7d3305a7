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

}  // namespace
}  // namespace trainyard::trainer

#include "trainer/ops/swiglu.h"

#include <gtest/gtest.h>

#include "tests/trainer/ops/gradient_check.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

TEST(SwiGluTest, GatesTheSecondHalfWithTheFirst) {
  torch::manual_seed(1);
  const Tensor packed = RandomDouble({4, 10});
  const Tensor gate = packed.narrow(1, 0, 5), up = packed.narrow(1, 5, 5);
  EXPECT_LT(RelativeError(SwiGlu(packed), gate / (1 + (-gate).exp()) * up), 1e-14);
}

TEST(SwiGluTest, GradientsEqualFiniteDifferences) {
  torch::manual_seed(2);
  const auto function = [](const std::vector<Tensor>& in) { return Project(SwiGlu(in[0])); };
  EXPECT_LT(GradientError(function, {RandomDouble({3, 8})}), 1e-7);
}

}  // namespace
}  // namespace trainyard::trainer

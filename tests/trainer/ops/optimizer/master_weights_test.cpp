#include "trainer/ops/optimizer/master_weights.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trainyard::trainer {
namespace {

using torch::Tensor;

TEST(MasterWeightsTest, AnyWeightComesBackExactly) {
  torch::manual_seed(1);
  const Tensor spread = torch::randn({1000}) * torch::pow(10.0f, torch::linspace(-40, 37, 1000));
  // A tie, a weight that rounds up to the next power of two, both zeros, and an ordinary number.
  const Tensor special = torch::tensor({1.00390625f, 1.9999999f, 0.0f, -0.0f, -3.1415927f});
  const Tensor master = torch::cat({spread, special});
  Tensor values = torch::empty_like(master, torch::kBFloat16);
  Tensor low_bits = torch::empty_like(master, torch::kInt16);
  SplitMasterWeights(master, values, low_bits);
  const Tensor bits = master.view(torch::kInt32);
  EXPECT_TRUE(JoinMasterWeights(values, low_bits).view(torch::kInt32).equal(bits));
  Tensor joined = torch::empty_like(master);
  JoinMasterWeights(static_cast<const uint16_t*>(values.data_ptr()), low_bits.data_ptr<int16_t>(),
                    master.numel(), joined.data_ptr<float>());
  EXPECT_TRUE(joined.view(torch::kInt32).equal(bits));
}

TEST(MasterWeightsTest, ValuesAreRoundedToTheNearest) {
  const Tensor master = torch::tensor({1.0f, 1.00390625f, 1.0039f, -1.00390625f, 257.0f});
  Tensor values = torch::empty_like(master, torch::kBFloat16);
  Tensor low_bits = torch::empty_like(master, torch::kInt16);
  SplitMasterWeights(master, values, low_bits);
  const Tensor expected = torch::tensor({1.0f, 1.0078125f, 1.0f, -1.0078125f, 258.0f});
  EXPECT_TRUE(values.to(torch::kFloat32).equal(expected));
}

}  // namespace
}  // namespace trainyard::trainer

#include "trainer/ops/cross_entropy.h"

#include <gtest/gtest.h>

#include "tests/trainer/ops/gradient_check.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

Tensor ReferenceLoss(const Tensor& hidden, const Tensor& weight, const Tensor& targets) {
  const Tensor chances = at::log_softmax(hidden.matmul(weight.t()), -1);
  return -chances.gather(1, targets.unsqueeze(1)).sum();
}

struct Problem {
  Tensor hidden = RandomDouble({7, 5});
  Tensor weight = RandomDouble({11, 5});
  Tensor targets = torch::randint(0, 11, {7}, torch::kInt64);
};

TEST(CrossEntropyTest, EqualsLogSoftmaxForAnyChunk) {
  torch::manual_seed(1);
  const Problem p;
  const double expected = ReferenceLoss(p.hidden, p.weight, p.targets).item<double>();
  for (const int64_t rows : {1, 3, 7, 100}) {
    EXPECT_NEAR(LinearCrossEntropy(p.hidden, p.weight, p.targets, rows).item<double>(), expected,
                1e-12);
  }
}

TEST(CrossEntropyTest, GradientsEqualFiniteDifferences) {
  torch::manual_seed(2);
  const Problem p;
  const auto function = [&](const std::vector<Tensor>& in) {
    return 0.25 * LinearCrossEntropy(in[0], in[1], p.targets, 3);
  };
  EXPECT_LT(GradientError(function, {p.hidden, p.weight}), 1e-7);
}

TEST(CrossEntropyTest, LossIsTheSameWithoutGradients) {
  torch::manual_seed(3);
  const Problem p;
  const Tensor hidden = p.hidden.clone().set_requires_grad(true);
  const double with = LinearCrossEntropy(hidden, p.weight, p.targets, 3).item<double>();
  torch::NoGradGuard no_grad;
  EXPECT_EQ(LinearCrossEntropy(hidden, p.weight, p.targets, 3).item<double>(), with);
}

TEST(CrossEntropyTest, HugeLogitsStayFinite) {
  const Tensor hidden = torch::full({1, 1}, 1e4), weight = torch::tensor({{1.0f}, {-1.0f}});
  EXPECT_EQ(LinearCrossEntropy(hidden, weight, torch::zeros({1}, torch::kInt64), 1).item<double>(),
            0);
}

TEST(CrossEntropyTest, SixteenBitGradientsAreSummedInSinglePrecision) {
  torch::manual_seed(4);
  const int64_t rows = 512;
  Tensor hidden = torch::randn({rows, 8}).to(torch::kBFloat16).set_requires_grad(true);
  Tensor weight = torch::randn({16, 8}).to(torch::kBFloat16).set_requires_grad(true);
  const Tensor targets = torch::randint(0, 16, {rows}, torch::kInt64);
  LinearCrossEntropy(hidden, weight, targets, 16).backward();
  Tensor exact_hidden = hidden.detach().to(torch::kFloat64).set_requires_grad(true);
  Tensor exact_weight = weight.detach().to(torch::kFloat64).set_requires_grad(true);
  ReferenceLoss(exact_hidden, exact_weight, targets).backward();
  EXPECT_EQ(weight.grad().scalar_type(), torch::kBFloat16);
  EXPECT_LT(RelativeError(weight.grad(), exact_weight.grad()), 1e-2);
  EXPECT_LT(RelativeError(hidden.grad(), exact_hidden.grad()), 2e-2);
}

}  // namespace
}  // namespace trainyard::trainer

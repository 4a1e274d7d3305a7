#include "trainer/ops/experts/grouped_linear.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/trainer/ops/gradient_check.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Experts 0, 2 and 4 have no rows.
const RowSegments kSegments = {0, 3, 0, 4, 0};

// The matrix of the expert of each row, [rows, out, in].
Tensor MatrixOfRows(const Tensor& weight) {
  return weight.index_select(0, torch::tensor({1, 1, 1, 3, 3, 3, 3}, torch::kInt64));
}

Tensor Products(const Tensor& x, const Tensor& weight) {
  return MatrixOfRows(weight).matmul(x.unsqueeze(2)).squeeze(2);
}

class GroupedLinearTest : public ::testing::Test {
 protected:
  GroupedLinearTest() { torch::manual_seed(1); }

  const Tensor x_ = RandomDouble({7, 4});
  const Tensor weight_ = RandomDouble({5, 3, 4});
  const Tensor dy_ = OutputWeights(torch::empty({7, 3}, torch::kFloat64));
  const std::vector<Tensor> expected_ =
      AutogradGradients([](const auto& in) { return Products(in[0], in[1]); }, {x_, weight_});
};

TEST_F(GroupedLinearTest, MultipliesEachRowWithTheMatrixOfItsExpert) {
  const Tensor y = GroupedLinearForward(x_, weight_, kSegments);
  EXPECT_LT(RelativeError(y, Products(x_, weight_)), 1e-14);
}

TEST_F(GroupedLinearTest, GradientsEqualAutograds) {
  const Tensor dx = GroupedLinearInputGradient(dy_, weight_, kSegments);
  Tensor d_weight = torch::empty_like(weight_);
  EXPECT_LT(RelativeError(dx, expected_[0]), 1e-14);
  GroupedLinearWeightGradient(dy_, x_, kSegments, {d_weight, false});
  EXPECT_LT(RelativeError(d_weight, expected_[1]), 1e-14);
}

TEST_F(GroupedLinearTest, GradientsOfExpertsWithoutRowsAreZero) {
  Tensor d_weight = torch::full_like(weight_, NAN);
  GroupedLinearWeightGradient(dy_, x_, kSegments, {d_weight, false});
  for (const int64_t expert : {0, 2, 4}) {
    EXPECT_EQ(d_weight[expert].abs().max().item<double>(), 0) << expert;
  }
  const Tensor first = d_weight.clone();
  GroupedLinearWeightGradient(dy_, x_, kSegments, {d_weight, true});
  EXPECT_LT(RelativeError(d_weight, 2 * first), 1e-14);
}

TEST_F(GroupedLinearTest, NoRowsAtAll) {
  const RowSegments none(5, 0);
  const Tensor y = GroupedLinearForward(x_.narrow(0, 0, 0), weight_, none);
  EXPECT_EQ(y.sizes(), (std::vector<int64_t>{0, 3}));
  Tensor d_weight = torch::full_like(weight_, NAN);
  GroupedLinearWeightGradient(y, x_.narrow(0, 0, 0), none, {d_weight, false});
  EXPECT_EQ(d_weight.abs().max().item<double>(), 0);
}

TEST_F(GroupedLinearTest, RefusesCountsThatDoNotAddUp) {
  EXPECT_THROW(GroupedLinearForward(x_, weight_, {7, 1, 0, 0, 0}), c10::Error);
  EXPECT_THROW(GroupedLinearForward(x_, weight_, {1, 1, 0, 0, 0}), c10::Error);
}

}  // namespace
}  // namespace trainyard::trainer

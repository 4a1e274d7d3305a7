#include "trainer/model/parameters/initialisation.h"

#include <gtest/gtest.h>

namespace trainyard::trainer {
namespace {

TEST(InitialisationTest, SliceEqualsThatPartOfTheWhole) {
  const LogicalTensorSlice whole = WholeLogicalTensor("w", {6, 10}, 0.02);
  LogicalTensorSlice slice = whole;
  slice.offset = {2, 5};
  slice.shape = {3, 5};
  const torch::Tensor expected = InitialValues(7, whole).narrow(0, 2, 3).narrow(1, 5, 5);
  EXPECT_TRUE(InitialValues(7, slice).equal(expected));
}

TEST(InitialisationTest, DependsOnSeedAndNameOnly) {
  const LogicalTensorSlice one = WholeLogicalTensor("one", {64}, 1);
  EXPECT_TRUE(InitialValues(7, one).equal(InitialValues(7, one)));
  EXPECT_FALSE(InitialValues(7, one).equal(InitialValues(8, one)));
  EXPECT_FALSE(InitialValues(7, one).equal(InitialValues(7, WholeLogicalTensor("two", {64}, 1))));
}

TEST(InitialisationTest, DoesNotDependOnThreads) {
  const LogicalTensorSlice large = WholeLogicalTensor("large", {100, 1000}, 1);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const torch::Tensor serial = InitialValues(7, large);
  at::set_num_threads(4);
  EXPECT_TRUE(InitialValues(7, large).equal(serial));
  at::set_num_threads(threads);
}

TEST(InitialisationTest, ValuesAreNormal) {
  const torch::Tensor values = InitialValues(7, WholeLogicalTensor("w", {1000, 100}, 0.5));
  EXPECT_NEAR(values.mean().item<double>(), 0, 0.01);
  EXPECT_NEAR(values.std().item<double>(), 0.5, 0.01);
  EXPECT_NEAR((values.abs() < 0.5).to(torch::kFloat64).mean().item<double>(), 0.6827, 0.01);
}

TEST(InitialisationTest, ZeroSpreadMeansOnes) {
  EXPECT_TRUE(InitialValues(7, WholeLogicalTensor("n", {3}, 0)).equal(torch::ones({3})));
}

}  // namespace
}  // namespace trainyard::trainer

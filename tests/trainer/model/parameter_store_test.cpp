#include "trainer/model/parameter_store.h"

#include <gtest/gtest.h>

namespace trainyard::trainer {
namespace {

// A decaying matrix of two logical parts, and a vector that does not decay.
std::vector<ParameterDeclaration> TwoParameters() {
  return {{{WholeLogicalTensor("norm", {3}, 0)}, false},
          {{WholeLogicalTensor("a", {2, 4}, 1), WholeLogicalTensor("b", {1, 4}, 1)}, true}};
}

TEST(ParameterStoreTest, StacksLogicalTensorsIntoOneParameter) {
  ParameterStore store(TwoParameters(), torch::kFloat32, torch::kCPU, 1);
  ASSERT_EQ(store.slices().size(), 3u);
  EXPECT_EQ(store.Value(1).sizes(), torch::IntArrayRef({3, 4}));
  for (const StoredSlice& slice : store.slices()) {
    const torch::Tensor part = store.SliceOf(store.master(), slice);
    if (slice.logical.name == "a") {
      EXPECT_TRUE(part.equal(store.Value(1).narrow(0, 0, 2)));
    }
    if (slice.logical.name == "b") {
      EXPECT_TRUE(part.equal(store.Value(1).narrow(0, 2, 1)));
    }
  }
  EXPECT_EQ(store.element_count(), 15);
}

TEST(ParameterStoreTest, DecayingParametersComeFirstAndAligned) {
  ParameterStore store(TwoParameters(), torch::kFloat32, torch::kCPU, 1);
  EXPECT_EQ(store.decaying_elements(), ParameterStore::kAlignment);
  EXPECT_EQ(store.master().numel(), 2 * ParameterStore::kAlignment);
  EXPECT_TRUE(store.Value(0).equal(torch::ones({3})));
  EXPECT_EQ(store.Value(0).data_ptr<float>(),
            store.master().data_ptr<float>() + ParameterStore::kAlignment);
}

TEST(ParameterStoreTest, PaddingStartsAtZero) {
  ParameterStore store(TwoParameters(), torch::kFloat32, torch::kCPU, 1);
  EXPECT_EQ(store.master().narrow(0, 12, 52).abs().sum().item<float>(), 0);
}

TEST(ParameterStoreTest, GradientsAddUpInTheFlatBuffer) {
  for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
    ParameterStore store(TwoParameters(), type, torch::kCPU, 1);
    for (int round = 0; round < 2; ++round) {
      (store.Value(0) * 3).sum().backward();
      store.CollectGradients();
    }
    EXPECT_TRUE(store.gradients().narrow(0, 64, 3).equal(torch::full({3}, 6.0f)));
    store.ZeroGradients();
    EXPECT_EQ(store.Gradient(0).abs().sum().item<float>(), 0);
  }
}

TEST(ParameterStoreTest, SixteenBitGradientsAddUpInSinglePrecision) {
  ParameterStore store(TwoParameters(), torch::kBFloat16, torch::kCPU, 1);
  for (const double value : {256.0, 1.0}) {  // 257 is not a bfloat16.
    (store.Value(0) * value).sum().backward();
    store.CollectGradients();
  }
  EXPECT_EQ(store.Gradient(0)[0].item<float>(), 257.0f);
}

TEST(ParameterStoreTest, ValuesFollowTheMaster) {
  ParameterStore store(TwoParameters(), torch::kBFloat16, torch::kCPU, 1);
  store.master().fill_(2.5);
  store.RefreshValues();
  EXPECT_TRUE(store.Value(1).detach().to(torch::kFloat32).equal(torch::full({3, 4}, 2.5f)));
}

}  // namespace
}  // namespace trainyard::trainer

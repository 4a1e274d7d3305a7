#include "trainer/model/tokens_ahead.h"

#include <gtest/gtest.h>

#include <vector>

#include "trainer/model/attention/documents.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

Tensor OneSample(const std::vector<int64_t>& tokens) { return torch::tensor(tokens).unsqueeze(0); }

Tensor OneSample(const std::vector<float>& weights) { return torch::tensor(weights).unsqueeze(0); }

TEST(TokensAheadTest, InputsAndTargetsAreFurtherAhead) {
  const Tensor tokens = OneSample(std::vector<int64_t>{10, 11, 12, 13, 14});
  const Tensor weights = OneSample(std::vector<float>{1, 2, 3, 4});
  const TokensAhead one = LookAhead(tokens, weights, 1);
  EXPECT_TRUE(one.inputs.equal(OneSample(std::vector<int64_t>{11, 12, 13, 14})));
  EXPECT_TRUE(one.targets.narrow(1, 0, 3).equal(OneSample(std::vector<int64_t>{12, 13, 14})));
  EXPECT_TRUE(one.weights.equal(OneSample(std::vector<float>{2, 3, 4, 0})));
  const TokensAhead two = LookAhead(tokens, weights, 2);
  EXPECT_TRUE(two.inputs.narrow(1, 0, 3).equal(OneSample(std::vector<int64_t>{12, 13, 14})));
  EXPECT_TRUE(two.targets.narrow(1, 0, 2).equal(OneSample(std::vector<int64_t>{13, 14})));
  EXPECT_TRUE(two.weights.equal(OneSample(std::vector<float>{3, 4, 0, 0})));
}

TEST(TokensAheadTest, SamplesMayBeShorterThanTheDistance) {
  const TokensAhead ahead =
      LookAhead(OneSample(std::vector<int64_t>{10, 11}), torch::ones({1, 1}), 5);
  EXPECT_EQ(ahead.inputs.size(1), 1);
  EXPECT_EQ(ahead.targets.size(1), 1);
  EXPECT_EQ(ahead.weights.sum().item<float>(), 0);
}

// Token 0 ends a document.
TEST(TokensAheadTest, OtherDocumentsAreMasked) {
  const Tensor tokens = OneSample(std::vector<int64_t>{7, 8, 0, 5, 6, 4});
  TokensAhead ahead = LookAhead(tokens, torch::ones({1, 5}), 1);
  MaskOtherDocuments(DocumentStarts(tokens.narrow(1, 0, 5), 0), 1, ahead);
  EXPECT_TRUE(ahead.weights.equal(OneSample(std::vector<float>{1, 1, 0, 1, 0}))) << ahead.weights;
}

}  // namespace
}  // namespace trainyard::trainer

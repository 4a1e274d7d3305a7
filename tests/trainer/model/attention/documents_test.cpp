#include "trainer/model/attention/documents.h"

#include <gtest/gtest.h>

#include "tests/trainer/ops/gradient_check.h"
#include "trainer/model/decoder.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr int64_t kEnd = 3;

Tensor Tokens(const std::vector<int64_t>& tokens) {
  return torch::tensor(tokens, torch::kInt64).unsqueeze(0);
}

TEST(DocumentsTest, ADocumentBeginsBehindAnEnd) {
  const Tensor tokens = torch::cat({Tokens({5, 3, 6, 7, 3, 3, 8}), Tokens({3, 1, 1, 1, 1, 1, 3}),
                                    Tokens({1, 1, 1, 1, 1, 1, 1})});
  const Tensor starts = torch::cat({Tokens({0, 0, 2, 2, 2, 5, 6}), Tokens({0, 1, 1, 1, 1, 1, 1}),
                                    Tokens({0, 0, 0, 0, 0, 0, 0})});
  EXPECT_TRUE(DocumentStarts(tokens, kEnd).equal(starts));
  EXPECT_TRUE(DocumentStarts(Tokens({3}), kEnd).equal(Tokens({0})));
}

TEST(DocumentsTest, APredictionFromAnEndDoesNotCount) {
  const Tensor tokens = torch::cat({Tokens({5, 3, 6, 3}), Tokens({3, 3, 1, 2})});
  EXPECT_TRUE(CountedPredictions(tokens, kEnd)
                  .equal(torch::tensor({1.0F, 0.0F, 1.0F,  //
                                        0.0F, 0.0F, 1.0F})));
}

ModelConfig SmallPackedModel() {
  ModelConfig model;
  model.num_layers = 2;
  model.hidden_size = 16;
  model.ffn_hidden_size = 24;
  model.num_attention_heads = 4;
  model.num_query_groups = 2;
  model.vocab_size = 31;
  model.init_method_std = 0.2;
  return model;
}

DecoderOptions PackedOptions() {
  return {.type = torch::kFloat64,
          .documents = {.end_token = kEnd, .reset_attention = true, .reset_positions = true}};
}

// Returns the loss of each prediction in a row of tokens.
Tensor LossesOf(const Decoder& decoder, const Tensor& tokens) {
  const Tensor logits = decoder.Logits(tokens.narrow(1, 0, tokens.size(1) - 1));
  return -at::log_softmax(logits, -1)
              .gather(2, tokens.narrow(1, 1, tokens.size(1) - 1).unsqueeze(2))
              .flatten();
}

// At the boundary, the first document's last token would predict the second document's first token.
// The loss excludes this prediction.
TEST(DocumentsTest, APackedSampleHasTheLossesOfItsDocuments) {
  const Tensor first = Tokens({9, 8, 20, 11, kEnd}), second = Tokens({4, 30, 7, 7, 12, 2, kEnd});
  const Tensor cut = Tokens({14, 15, 16});  // Its document continues in another sample.
  for (const int64_t window : {0, 3}) {
    ModelConfig model = SmallPackedModel();
    model.window_size = window;
    const Decoder packed(model, PackedOptions());
    const Decoder plain(model, {.type = torch::kFloat64});
    const Tensor losses = LossesOf(packed, torch::cat({first, second, cut}, 1));
    int64_t begin = 0;
    for (const Tensor& document : {first, second, cut}) {
      const int64_t predictions = document.size(1) - 1;
      EXPECT_LT(RelativeError(losses.narrow(0, begin, predictions), LossesOf(plain, document)),
                1e-13);
      begin += document.size(1);
    }
    EXPECT_GT(RelativeError(LossesOf(plain, torch::cat({first, second, cut}, 1)), losses), 1e-3)
        << "documents must matter";
  }
}

// The gradients of a packed sample must equal the sum of its documents' gradients, with and without
// recomputation.
TEST(DocumentsTest, APackedSampleHasTheGradientsOfItsDocuments) {
  const Tensor first = Tokens({9, 8, 20, 11, kEnd}), second = Tokens({4, 30, 7, 7, 12, 2, kEnd});
  const auto run = [](Decoder& decoder, WeightGradients& gradients, const Tensor& tokens) {
    Tensor loss = torch::zeros({}, torch::kFloat64);
    decoder.ForwardBackward({tokens, CountedPredictions(tokens, kEnd).to(torch::kFloat64)}, loss,
                            gradients);
    return loss.item<double>();
  };
  Decoder plain(SmallPackedModel(), {.type = torch::kFloat64});
  WeightGradients plain_gradients(plain.parameters());
  const double expected = run(plain, plain_gradients, first) + run(plain, plain_gradients, second);
  for (const Recompute recompute : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
    DecoderOptions options = PackedOptions();
    options.blocks.recompute = recompute;
    Decoder packed(SmallPackedModel(), options);
    WeightGradients gradients(packed.parameters());
    EXPECT_NEAR(run(packed, gradients, torch::cat({first, second}, 1)), expected, 1e-12);
    EXPECT_LT(RelativeError(packed.parameters().gradients(), plain.parameters().gradients()),
              1e-12);
  }
}

}  // namespace
}  // namespace trainyard::trainer

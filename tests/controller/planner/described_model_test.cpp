#include "controller/planner/described_model.h"

#include "gtest/gtest.h"
#include "proto/contract/model_size.h"

namespace trainyard::planner {
namespace {

DescribedModel Dense() {
  DescribedModel model;
  model.dense.num_layers = 32;
  model.dense.hidden_size = 4096;
  model.dense.ffn_hidden_size = 14336;
  model.dense.num_attention_heads = 32;
  model.dense.num_query_groups = 8;
  model.dense.vocab_size = 32000;
  return model;
}

DescribedModel Mixtral() {
  DescribedModel model = Dense();
  model.experts = {.count = 8, .topk = 2};
  return model;
}

TEST(DescribedModelTest, ADenseModelIsCountedAsTheTrainerCountsIt) {
  DescribedModel model = Dense();
  model.dense.add_bias_linear = true;
  model.dense.qk_layernorm = true;
  const auto sum = CountParameters(model);
  ASSERT_TRUE(sum.has_value());
  EXPECT_EQ(sum->total, ParameterCount(model.dense));
  EXPECT_EQ(sum->active, sum->total);
  EXPECT_EQ(DescribedFlopsPerToken(model, 4096), TrainingFlopsPerToken(model.dense, 4096));
}

// One expert that every token takes is a dense layer, with a router of one row.
TEST(DescribedModelTest, OneExpertIsADenseModelWithARouter) {
  DescribedModel model = Dense();
  model.experts = {.count = 1, .topk = 1};
  const int64_t routers = model.dense.num_layers * model.dense.hidden_size;
  EXPECT_EQ(CountParameters(model)->total, ParameterCount(model.dense) + routers);
  EXPECT_EQ(CountParameters(model)->active, CountParameters(model)->total);
  model.dense.qk_layernorm = true;
  EXPECT_EQ(CountParameters(model)->total, ParameterCount(model.dense) + routers);
}

// https://huggingface.co/mistralai/Mixtral-8x7B-v0.1: 46,702,792,704 in its index of tensors.
TEST(DescribedModelTest, ExpertsCountOnceInAllAndByTopkForAToken) {
  EXPECT_EQ(CountParameters(Mixtral())->total, 46702792704);
  EXPECT_EQ(CountParameters(Mixtral())->active, 12879925248);
}

TEST(DescribedModelTest, LatentAttentionSharedExpertsAndDenseLayers) {
  DescribedModel model;
  model.dense.num_layers = 3;
  model.dense.hidden_size = 10;
  model.dense.ffn_hidden_size = 40;
  model.dense.num_attention_heads = model.dense.num_query_groups = 2;
  model.dense.vocab_size = 100;
  model.latent = {
      .query_rank = 6, .key_rank = 4, .head_size = 3, .rotary_size = 2, .value_size = 5};
  model.experts = {
      .count = 4, .topk = 2, .ffn_hidden_size = 7, .shared_ffn_hidden_size = 8, .dense_layers = 1};
  const int64_t queries = 10 * 6 + 6 + 6 * 2 * (3 + 2);
  const int64_t keys = 10 * (4 + 2) + 4 + 4 * 2 * (3 + 5);
  const int64_t attention = queries + keys + 2 * 5 * 10;
  const int64_t rest =
      3 * (attention + 2 * 10) + 3 * 10 * 40 + 2 * 3 * 10 * 8 + 2 * 10 * 4 + 2 * 100 * 10 + 10;
  EXPECT_EQ(CountParameters(model)->total, rest + 2 * 4 * 3 * 10 * 7);
  EXPECT_EQ(CountParameters(model)->active, rest + 2 * 2 * 3 * 10 * 7);
  model.latent.query_rank = 0;
  EXPECT_EQ(CountParameters(model)->total,
            rest + 2 * 4 * 3 * 10 * 7 - 3 * queries + 3 * 10 * 2 * (3 + 2));
}

TEST(DescribedModelTest, OperationsAreThoseOfTheActiveWeights) {
  const DescribedModel model = Mixtral();
  const double embedding = 32000.0 * 4096;
  const auto active = static_cast<double>(CountParameters(model)->active);
  EXPECT_NEAR(DescribedFlopsPerToken(model, 4096),
              6 * (active - embedding) + 12.0 * 32 * 4096 * 4096, 1);
}

TEST(DescribedModelTest, FindsTheWidthThatATotalNeeds) {
  EXPECT_EQ(ExpertWidthFor(Mixtral(), 46702792704.0), 14336);
  EXPECT_EQ(ExpertWidthFor(Mixtral(), 1e6), 0);
  EXPECT_EQ(ExpertWidthFor(Dense(), 1e9), 0);
}

TEST(DescribedModelTest, SumsAboveAllNumbersAreSaid) {
  DescribedModel model = Mixtral();
  model.dense.num_layers = 1000;
  model.dense.hidden_size = 131072;
  model.experts = {.count = 65536, .topk = 2, .ffn_hidden_size = 1048576};
  EXPECT_FALSE(CountParameters(model).has_value());
}

}  // namespace
}  // namespace trainyard::planner

#include "trainer/model/attention/latent_attention.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "proto/model/model_size.h"
#include "tests/trainer/model/family_settings.h"
#include "tests/trainer/model/plain_llama.h"
#include "tests/trainer/model/stored_slices.h"
#include "tests/trainer/ops/gradient_check.h"
#include "trainer/model/decoder.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;
using Make = std::function<void(ModelConfig&)>;

ModelConfig LatentModel(const Make& make) {
  ModelConfig model;
  model.num_layers = 2;
  model.hidden_size = 16;
  model.ffn_hidden_size = 24;
  model.num_attention_heads = 4;
  model.num_query_groups = 4;
  model.vocab_size = 31;
  model.init_method_std = 0.2;
  make(model);
  return model;
}

TrainingTokens RandomLatentTokens(int64_t batch, int64_t length) {
  return {torch::randint(0, 31, {batch, length + 1}, torch::kInt64), torch::rand({batch * length})};
}

const std::map<std::string, Make>& LatentFamilies() {
  static const std::map<std::string, Make> families = {
      {"DeepSeekV3", MakeDeepSeekV3},
      {"DeepSeekV3WithYarn", MakeDeepSeekV3WithYarn},
      {"DeepSeekV2Lite", MakeDeepSeekV2Lite},
      {"WideValuesAndDense", [](ModelConfig& model) {
         MakeDeepSeekV3(model);
         model.num_experts = model.moe_router_topk = model.moe_dense_layers = 0;
         model.moe_router_enable_expert_bias = false;
         model.v_head_dim = 20;
       }}};
  return families;
}

double Pass(Decoder& decoder, const TrainingTokens& batch,
            WeightGradients::Timing timing = WeightGradients::Timing::kAtOnce) {
  Tensor loss = torch::zeros({}, torch::kFloat64);
  WeightGradients gradients(decoder.parameters(), timing);
  decoder.ForwardBackward(batch, loss, gradients);
  gradients.RunDeferred();
  return loss.item<double>();
}

TEST(LatentAttentionTest, LossAndGradientsEqualThePlainModel) {
  for (const auto& [name, make] : LatentFamilies()) {
    SCOPED_TRACE(name);
    torch::manual_seed(1);
    const ModelConfig model = LatentModel(make);
    const TrainingTokens batch = RandomLatentTokens(3, 8);
    Decoder decoder(model, {.type = torch::kFloat64});
    PlainLlama plain(model, decoder);
    const Tensor expected = PlainLoss(plain, batch.tokens, batch.loss_weights);
    expected.backward();
    const double loss = Pass(decoder, {batch.tokens, batch.loss_weights.to(torch::kFloat64)});
    EXPECT_NEAR(loss, expected.item<double>(), 1e-7);
    ParameterStore& store = decoder.parameters();
    for (const StoredSlice& slice : store.slices()) {
      const Tensor reference = plain.weights().at(slice.logical.name).grad();
      EXPECT_LT(RelativeNorm(SliceOf(store.gradients(), slice), reference), 1e-6)
          << slice.logical.name;
    }
  }
}

TEST(LatentAttentionTest, RecomputationAndDeferredGradientsChangeNoBit) {
  for (const auto& [name, make] : LatentFamilies()) {
    SCOPED_TRACE(name);
    torch::manual_seed(2);
    const TrainingTokens batch = RandomLatentTokens(2, 8);
    Decoder kept(LatentModel(make), {}), deferred(LatentModel(make), {});
    Pass(kept, batch);
    for (const Recompute recompute : {Recompute::kSelective, Recompute::kFull}) {
      DecoderOptions options;
      options.blocks.recompute = recompute;
      Decoder recomputed(LatentModel(make), options);
      Pass(recomputed, batch);
      EXPECT_TRUE(recomputed.parameters().gradients().equal(kept.parameters().gradients()));
    }
    Pass(deferred, batch, WeightGradients::Timing::kDeferred);
    EXPECT_TRUE(deferred.parameters().gradients().equal(kept.parameters().gradients()));
  }
}

TEST(LatentAttentionTest, TheStoreHasAsManyParametersAsTheModelSizeCounts) {
  for (const auto& [name, make] : LatentFamilies()) {
    const ModelConfig model = LatentModel(make);
    Decoder decoder(model, {});
    int64_t elements = 0;
    for (const StoredSlice& slice : decoder.parameters().slices()) elements += slice.range.length;
    EXPECT_EQ(elements, ParameterCount(model)) << name;
  }
}

TEST(LatentAttentionTest, NamesAreThoseOfHuggingFace) {
  const auto shapes_of = [](const Make& make) {
    Decoder decoder(LatentModel(make), {});
    std::map<std::string, std::vector<int64_t>> shapes;
    for (const StoredSlice& slice : decoder.parameters().slices()) {
      const std::string prefix = "model.layers.0.self_attn.";
      if (!slice.logical.name.starts_with(prefix)) continue;
      shapes[slice.logical.name.substr(prefix.size())] = slice.logical.global_shape;
    }
    return shapes;
  };
  using Shapes = std::map<std::string, std::vector<int64_t>>;
  Shapes expected = {{"kv_a_proj_with_mqa.weight", {12 + 4, 16}},
                     {"kv_a_layernorm.weight", {12}},
                     {"kv_b_proj.weight", {4 * (8 + 6), 12}},
                     {"o_proj.weight", {16, 4 * 6}},
                     {"q_proj.weight", {4 * 12, 16}}};
  EXPECT_EQ(shapes_of(MakeDeepSeekV2Lite), expected);
  expected.erase("q_proj.weight");
  expected.merge(Shapes{{"q_a_proj.weight", {10, 16}},
                        {"q_a_layernorm.weight", {10}},
                        {"q_b_proj.weight", {4 * 12, 10}}});
  EXPECT_EQ(shapes_of(MakeDeepSeekV3), expected);
}

TEST(LatentAttentionTest, SelectiveRecomputationKeepsNoHeads) {
  const auto make = LatentFamilies().at("WideValuesAndDense");
  const auto kept_bytes = [&](Recompute recompute) {
    DecoderOptions options;
    options.blocks.recompute = recompute;
    const Decoder decoder(LatentModel(make), options);
    MicroBatch micro_batch = decoder.Begin(0, RandomLatentTokens(2, 8), Stash::Mode::kKeep);
    decoder.Forward(0, {}, micro_batch);
    return micro_batch.stash.bytes();
  };
  // In each of two layers: two norms and the activation; the two normalized vectors of lower rank
  // with the statistics of their norms; queries, keys, and the matrix of keys and values, less the
  // elements that all heads share.
  const int64_t heads = 4 * (12 + 12 + 8 + 20), latents = 10 + 12 + 2;
  EXPECT_EQ(kept_bytes(Recompute::kNone) - kept_bytes(Recompute::kSelective),
            2 * 4 * 16 * (2 * 16 + 24 + latents + heads - 4));
}

}  // namespace
}  // namespace trainyard::trainer

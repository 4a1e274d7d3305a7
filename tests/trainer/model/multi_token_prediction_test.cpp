#include "trainer/model/multi_token_prediction.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/trainer/model/family_settings.h"
#include "tests/trainer/model/plain_llama.h"
#include "tests/trainer/model/stored_slices.h"
#include "tests/trainer/ops/gradient_check.h"
#include "trainer/model/decoder.h"
#include "trainer/model/tokens_ahead.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;
using MakeModel = std::function<void(ModelConfig&)>;

constexpr double kFactor = 0.3;

ModelConfig MtpModel(int64_t modules, const MakeModel& make = {}) {
  ModelConfig model;
  model.num_layers = 2;
  model.hidden_size = 16;
  model.ffn_hidden_size = 24;
  model.num_attention_heads = 4;
  model.num_query_groups = 2;
  model.vocab_size = 31;
  model.init_method_std = 0.2;
  model.mtp_num_layers = modules;
  model.mtp_loss_scaling_factor = kFactor;
  if (make) make(model);
  return model;
}

TrainingTokens WideBatch(int64_t batch, int64_t length) {
  return {torch::randint(0, 31, {batch, length + 1}, torch::kInt64),
          torch::rand({batch * length}, torch::kFloat64)};
}

DecoderOptions WideOptions() {
  DecoderOptions options;
  options.type = torch::kFloat64;
  return options;
}

double TrainOnce(Decoder& decoder, const TrainingTokens& batch) {
  Tensor loss = torch::zeros({}, torch::kFloat64);
  WeightGradients gradients(decoder.parameters());
  decoder.ForwardBackward(batch, loss, gradients);
  return loss.item<double>();
}

// Returns the mean of the losses of the modules.
Tensor PlainMtpLoss(PlainLlama& plain, const ModelConfig& model, const TrainingTokens& batch) {
  const Tensor weights = batch.loss_weights.view({batch.tokens.size(0), -1});
  Tensor sum = torch::zeros({}, torch::kFloat64);
  for (int64_t module = 0; module < model.mtp_num_layers; ++module) {
    const TokensAhead ahead = LookAhead(batch.tokens, weights, module + 1);
    const Tensor chances = at::log_softmax(plain.MtpLogits(ahead.inputs, module), -1);
    const Tensor losses = -chances.gather(2, ahead.targets.unsqueeze(2)).squeeze(2);
    sum = sum + (losses * ahead.weights).sum();
  }
  return sum / static_cast<double>(model.mtp_num_layers);
}

const std::map<std::string, ModelConfig>& MtpModels() {
  static const std::map<std::string, ModelConfig> models = {
      {"one module", MtpModel(1)},
      {"three modules", MtpModel(3)},
      {"tied", MtpModel(1, [](auto& m) { m.untie_embeddings_and_output_weights = false; })},
      {"LayerNorm", MtpModel(2, [](auto& m) { m.normalization = Normalization::kLayerNorm; })},
      {"norms without weights", MtpModel(1,
                                         [](auto& m) {
                                           m.normalization = Normalization::kLayerNorm;
                                           m.norm_weights = false;
                                         })},
      {"DeepSeek experts", MtpModel(2, MakeDeepSeekMoe)},
      {"Mixtral with aux loss", MtpModel(1, [](auto& m) {
         MakeMixtral(m);
         m.moe_aux_loss_coeff = 0.5;
       })}};
  return models;
}

TEST(MultiTokenPredictionTest, LossesAndGradientsEqualThePlainModel) {
  for (const auto& [name, model] : MtpModels()) {
    SCOPED_TRACE(name);
    torch::manual_seed(1);
    const TrainingTokens batch = WideBatch(3, 8);
    Decoder decoder(model, WideOptions());
    PlainLlama plain(model, decoder);
    const Tensor main = PlainLoss(plain, batch.tokens, batch.loss_weights);
    const Tensor further = PlainMtpLoss(plain, model, batch);
    (main + kFactor * further + plain.balance_loss()).backward();
    EXPECT_NEAR(TrainOnce(decoder, batch), main.item<double>(), 1e-9);
    EXPECT_NEAR(decoder.mtp_loss().item<double>(), kFactor * further.item<double>(), 1e-9);
    ParameterStore& store = decoder.parameters();
    for (const StoredSlice& slice : store.slices()) {
      const Tensor reference = plain.weights().at(slice.logical.name).grad();
      EXPECT_LT(RelativeNorm(SliceOf(store.gradients(), slice), reference), 1e-6)
          << slice.logical.name;
    }
  }
}

TEST(MultiTokenPredictionTest, GradientsEqualCentralDifferences) {
  torch::manual_seed(2);
  const TrainingTokens batch = WideBatch(2, 6);
  Decoder decoder(MtpModel(2), WideOptions());
  TrainOnce(decoder, batch);
  ParameterStore& store = decoder.parameters();
  const Tensor gradients = store.gradients().clone();
  int compared = 0;
  for (const StoredSlice& slice : store.slices()) {
    const std::string& name = slice.logical.name;
    if (name != "model.layers.2.eh_proj.weight" && name != "model.layers.3.hnorm.weight" &&
        name != "model.layers.1.input_layernorm.weight") {
      continue;
    }
    ++compared;
    Tensor values = SliceOf(store.values(), slice);
    const Tensor before = values.clone();
    const Tensor expected = CentralDifferences(
        [&](const Tensor& moved) {
          values.copy_(moved);
          decoder.mtp_loss().zero_();
          const double loss = TrainOnce(decoder, batch);
          return loss + decoder.mtp_loss().item<double>();
        },
        before);
    values.copy_(before);
    EXPECT_LT(RelativeNorm(SliceOf(gradients, slice), expected), 1e-6) << name;
  }
  EXPECT_EQ(compared, 3);
}

TEST(MultiTokenPredictionTest, RecomputationAndDeferredGradientsChangeNoBit) {
  torch::manual_seed(3);
  const ModelConfig model = MtpModel(2, MakeDeepSeekMoe);
  const TrainingTokens batch = WideBatch(2, 8);
  Decoder kept(model, WideOptions()), deferred(model, WideOptions());
  TrainOnce(kept, batch);
  for (const Recompute recompute : {Recompute::kSelective, Recompute::kFull}) {
    DecoderOptions options = WideOptions();
    options.blocks.recompute = recompute;
    Decoder recomputed(model, options);
    TrainOnce(recomputed, batch);
    EXPECT_TRUE(recomputed.parameters().gradients().equal(kept.parameters().gradients()));
  }
  Tensor loss = torch::zeros({}, torch::kFloat64);
  WeightGradients gradients(deferred.parameters(), WeightGradients::Timing::kDeferred);
  deferred.ForwardBackward(batch, loss, gradients);
  gradients.RunDeferred();
  EXPECT_TRUE(deferred.parameters().gradients().equal(kept.parameters().gradients()));
}

TEST(MultiTokenPredictionTest, EvaluationsDoNotUseTheModules) {
  torch::manual_seed(4);
  const TrainingTokens batch = WideBatch(2, 8);
  const ModelConfig model = MtpModel(1, MakeDeepSeekMoe);
  Decoder decoder(model, WideOptions());
  PlainLlama plain(model, decoder);
  Tensor loss = torch::zeros({}, torch::kFloat64);
  decoder.Loss(batch, loss);
  EXPECT_NEAR(loss.item<double>(),
              PlainLoss(plain, batch.tokens, batch.loss_weights).item<double>(), 1e-9);
  EXPECT_EQ(decoder.mtp_loss().item<double>(), 0);
  EXPECT_EQ(decoder.expert_balance().load.sum().item<int64_t>(), 0);
}

TEST(MultiTokenPredictionTest, ModulesFinishTheirGroupsFirst) {
  Decoder decoder(MtpModel(2), WideOptions());
  std::vector<std::string> finished;
  Tensor loss = torch::zeros({}, torch::kFloat64);
  WeightGradients gradients(decoder.parameters());
  gradients.OnGroupFinished(
      [&](int64_t group) { finished.push_back(decoder.parameters().groups()[group].name); });
  decoder.ForwardBackward(WideBatch(1, 4), loss, gradients);
  EXPECT_EQ(finished, (std::vector<std::string>{"layer 3", "mtp 1", "layer 2", "mtp 0", "head",
                                                "layer 1", "layer 0", "embedding"}));
}

TEST(MultiTokenPredictionTest, NamesAreThoseOfDeepSeek) {
  Decoder decoder(MtpModel(1), WideOptions());
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const StoredSlice& slice : decoder.parameters().slices()) {
    shapes[slice.logical.name] = slice.logical.global_shape;
  }
  using Shape = std::vector<int64_t>;
  EXPECT_EQ(shapes["model.layers.2.eh_proj.weight"], (Shape{16, 32}));
  EXPECT_EQ(shapes["model.layers.2.enorm.weight"], (Shape{16}));
  EXPECT_EQ(shapes["model.layers.2.hnorm.weight"], (Shape{16}));
  EXPECT_EQ(shapes["model.layers.2.shared_head.norm.weight"], (Shape{16}));
  EXPECT_EQ(shapes["model.layers.2.mlp.up_proj.weight"], (Shape{24, 16}));
  EXPECT_EQ(shapes.size(), 3u + 3 * 9 + 4);
}

}  // namespace
}  // namespace trainyard::trainer

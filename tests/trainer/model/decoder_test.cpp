#include "trainer/model/decoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "proto/model/model_size.h"
#include "tests/trainer/model/family_settings.h"
#include "tests/trainer/model/plain_llama.h"
#include "tests/trainer/model/stored_slices.h"
#include "tests/trainer/ops/gradient_check.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

ModelConfig SmallModel() {
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

// Returns rows of random tokens. Their predictions have different weights, some of which are 0.
TrainingTokens RandomTokens(int64_t batch, int64_t length) {
  Tensor weights = torch::rand({batch * length});
  weights[1] = 0;
  return {torch::randint(0, 31, {batch, length + 1}, torch::kInt64), weights};
}

// Runs one micro-batch as a separate step and returns the loss.
double RunStep(Decoder& decoder, const TrainingTokens& batch) {
  Tensor loss = torch::zeros({}, torch::kFloat64);
  WeightGradients gradients(decoder.parameters());
  decoder.ForwardBackward(batch, loss, gradients);
  return loss.item<double>();
}

double LossOf(const Decoder& decoder, const TrainingTokens& batch) {
  Tensor loss = torch::zeros({}, torch::kFloat64);
  decoder.Loss(batch, loss);
  return loss.item<double>();
}

// Compares the loss and the gradients of every logical tensor with the plain model.
void ExpectEqualsPlainLlama(const ModelConfig& model) {
  torch::manual_seed(1);
  const TrainingTokens batch = RandomTokens(3, 8);
  Decoder decoder(model, {});
  RandomiseBiases(decoder.parameters());
  PlainLlama plain(model, decoder);
  const Tensor expected = PlainLoss(plain, batch.tokens, batch.loss_weights);
  expected.backward();
  EXPECT_NEAR(RunStep(decoder, batch), expected.item<double>(), 1e-5 * expected.item<double>());
  ParameterStore& store = decoder.parameters();
  for (const StoredSlice& slice : store.slices()) {
    const Tensor gradient = SliceOf(store.gradients(), slice);
    if (IsUnseen(model, slice.logical.name)) {
      EXPECT_LT(gradient.norm().item<double>(), 1e-5) << slice.logical.name;
      continue;
    }
    EXPECT_LT(RelativeNorm(gradient, plain.weights().at(slice.logical.name).grad()), 1e-5)
        << slice.logical.name;
  }
}

TEST(DecoderTest, LossAndGradientsEqualPlainLlama) { ExpectEqualsPlainLlama(SmallModel()); }

TEST(DecoderTest, TiedHeadEqualsPlainLlama) {
  ModelConfig model = SmallModel();
  model.untie_embeddings_and_output_weights = false;
  ExpectEqualsPlainLlama(model);
}

// Has the features of the small Qwen3 models: heads of a size other than hidden / heads, normalized
// heads, and a tied head.
TEST(DecoderTest, NormsOfHeadsEqualPlainLlama) {
  ModelConfig model = SmallModel();
  model.kv_channels = 6;
  model.qk_layernorm = true;
  ExpectEqualsPlainLlama(model);
  model.untie_embeddings_and_output_weights = false;
  ExpectEqualsPlainLlama(model);
}

TEST(DecoderTest, LayerNormEqualsPlainLlama) {
  ModelConfig model = SmallModel();
  model.normalization = Normalization::kLayerNorm;
  ExpectEqualsPlainLlama(model);
  model.norm_weights = false;  // OLMo.
  ExpectEqualsPlainLlama(model);
  model.untie_embeddings_and_output_weights = false;
  ExpectEqualsPlainLlama(model);
}

TEST(DecoderTest, BiasesEqualPlainLlama) {
  ModelConfig model = SmallModel();
  model.add_bias_linear = true;
  ExpectEqualsPlainLlama(model);
}

TEST(DecoderTest, BiasesOfQueriesKeysAndValuesEqualPlainLlama) {
  ModelConfig model = SmallModel();
  model.add_qkv_bias = true;
  ExpectEqualsPlainLlama(model);
  model.qk_layernorm = true;
  ExpectEqualsPlainLlama(model);
  MakeMixtral(model);
  ExpectEqualsPlainLlama(model);
}

TEST(DecoderTest, ActivationsWithoutAGateEqualPlainLlama) {
  ModelConfig model = SmallModel();
  for (const Activation activation :
       {Activation::kGelu, Activation::kGeluTanh, Activation::kSquaredRelu}) {
    model.activation = activation;
    ExpectEqualsPlainLlama(model);
  }
}

TEST(DecoderTest, LearnedPositionsEqualPlainLlama) {
  ModelConfig model = SmallModel();
  MakeGpt2(model, /*max_positions=*/8);
  ExpectEqualsPlainLlama(model);
  model.max_position_embeddings = 11;  // More rows than the samples use.
  model.untie_embeddings_and_output_weights = true;
  ExpectEqualsPlainLlama(model);
}

TEST(DecoderTest, PartlyTurnedHeadsEqualPlainLlama) {
  ModelConfig model = SmallModel();
  MakeGpt3_15b(model);
  ExpectEqualsPlainLlama(model);
}

TEST(DecoderTest, ParallelBranchesEqualPlainLlama) {
  ModelConfig model = SmallModel();
  model.kv_channels = 8;
  MakeGptNeox(model);
  ExpectEqualsPlainLlama(model);
}

// Scales positions as LLaMA 3.1 does. The samples are longer than the original context.
TEST(DecoderTest, ScaledPositionsEqualPlainLlama) {
  ModelConfig model = SmallModel();
  model.rope_scaling_factor = 8;
  model.rope_original_length = 4;
  ExpectEqualsPlainLlama(model);
}

TEST(DecoderTest, LogitsEqualPlainLlama) {
  torch::manual_seed(2);
  Decoder decoder(SmallModel(), {});
  PlainLlama plain(SmallModel(), decoder);
  const Tensor tokens = torch::randint(0, 31, {2, 7}, torch::kInt64);
  EXPECT_LT(RelativeError(decoder.Logits(tokens), plain.Logits(tokens)), 1e-5);
}

TEST(DecoderTest, LossWithoutGradientsIsTheSame) {
  torch::manual_seed(7);
  const TrainingTokens batch = RandomTokens(2, 8);
  Decoder decoder(SmallModel(), {});
  EXPECT_EQ(LossOf(decoder, batch), RunStep(decoder, batch));
}

void ExpectRecomputationChangesNoBit(const ModelConfig& model) {
  torch::manual_seed(3);
  const TrainingTokens batch = RandomTokens(2, 8);
  Decoder kept(model, {});
  RunStep(kept, batch);
  EXPECT_GT(kept.parameters().gradients().abs().sum().item<double>(), 0);
  for (const Recompute recompute : {Recompute::kSelective, Recompute::kFull}) {
    DecoderOptions options;
    options.blocks.recompute = recompute;
    Decoder recomputed(model, options);
    RunStep(recomputed, batch);
    EXPECT_TRUE(recomputed.parameters().gradients().equal(kept.parameters().gradients()));
  }
}

TEST(DecoderTest, RecomputationChangesNoBit) { ExpectRecomputationChangesNoBit(SmallModel()); }

TEST(DecoderTest, RecomputationOfOtherFamiliesChangesNoBit) {
  ModelConfig model = SmallModel();
  MakeGpt2(model, /*max_positions=*/8);
  ExpectRecomputationChangesNoBit(model);
  model = SmallModel();
  model.kv_channels = 8;
  MakeGptNeox(model);
  ExpectRecomputationChangesNoBit(model);
}

// Returns the bytes that one block keeps for its backward pass.
int64_t KeptBytes(Recompute recompute) {
  const ModelConfig model = SmallModel();
  DecoderOptions options;
  Decoder decoder(model, options);
  const RotaryTable rotary =
      MakeRotaryTable(torch::arange(8), HeadSize(model), {}, torch::kFloat32);
  MicroBatch micro_batch{2, 8, rotary, Stash()};
  // The block's parameters are group 2. Groups 0 and 1 are the head's norm and matrix.
  Block(model, decoder.parameters(), {.first_parameter = 2}, {.recompute = recompute})
      .Forward(torch::randn({16, model.hidden_size}), micro_batch);
  return micro_batch.stash.bytes();
}

TEST(DecoderTest, RecomputationKeepsLess) {
  const int64_t rows = 16, hidden = 16, ffn = 24;
  EXPECT_EQ(KeptBytes(Recompute::kFull), 4 * rows * hidden);
  // The difference consists of the outputs of two norms and the output of the activation.
  EXPECT_EQ(KeptBytes(Recompute::kNone) - KeptBytes(Recompute::kSelective),
            4 * rows * (2 * hidden + ffn));
}

TEST(DecoderTest, GradientsOfMicroBatchesAddUp) {
  torch::manual_seed(5);
  const TrainingTokens batch = RandomTokens(4, 8);
  DecoderOptions options;
  options.type = torch::kFloat64;
  Decoder whole(SmallModel(), options), parts(SmallModel(), options);
  RunStep(whole, batch);
  Tensor loss = torch::zeros({}, torch::kFloat64);
  WeightGradients gradients(parts.parameters());
  for (int step = 0; step < 2; ++step) {  // The second step starts from zero gradients again.
    gradients.BeginStep();
    for (const int64_t first : {0, 2}) {
      parts.ForwardBackward(
          {batch.tokens.narrow(0, first, 2), batch.loss_weights.narrow(0, first * 8, 16)}, loss,
          gradients);
    }
  }
  EXPECT_LT(RelativeError(parts.parameters().gradients(), whole.parameters().gradients()), 1e-12);
}

TEST(DecoderTest, DeferredWeightGradientsAreTheSameBits) {
  torch::manual_seed(6);
  const TrainingTokens batch = RandomTokens(2, 8);
  Decoder at_once(SmallModel(), {}), deferred(SmallModel(), {});
  RunStep(at_once, batch);
  Tensor loss = torch::zeros({}, torch::kFloat64);
  WeightGradients gradients(deferred.parameters(), WeightGradients::Timing::kDeferred);
  std::vector<int64_t> finished;
  gradients.OnGroupFinished([&](int64_t group) { finished.push_back(group); });
  deferred.ForwardBackward(batch, loss, gradients);
  EXPECT_TRUE(finished.empty());
  gradients.RunDeferred();
  EXPECT_EQ(finished, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_TRUE(deferred.parameters().gradients().equal(at_once.parameters().gradients()));
}

TEST(DecoderTest, SixteenBitStaysNearSinglePrecision) {
  torch::manual_seed(4);
  const TrainingTokens batch = RandomTokens(2, 8);
  DecoderOptions options;
  Decoder single(SmallModel(), options);
  options.type = torch::kBFloat16;
  Decoder half(SmallModel(), options);
  const double expected = RunStep(single, batch);
  EXPECT_NEAR(RunStep(half, batch), expected, 0.02 * expected);
  EXPECT_LT(RelativeNorm(half.parameters().gradients(), single.parameters().gradients()), 0.05);
}

TEST(DecoderTest, FreshModelPredictsUniformly) {
  ModelConfig model = SmallModel();
  model.init_method_std = 0.002;
  const Decoder decoder(model, {});
  const TrainingTokens batch{torch::randint(0, 31, {2, 8}, torch::kInt64), torch::ones({14})};
  EXPECT_NEAR(LossOf(decoder, batch) / 14, std::log(31), 0.01);
}

TEST(DecoderTest, NamesAreThoseOfHuggingFace) {
  Decoder decoder(SmallModel(), {});
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const StoredSlice& slice : decoder.parameters().slices()) {
    shapes[slice.logical.name] = slice.logical.global_shape;
  }
  EXPECT_EQ(shapes.size(), 2u * 9 + 3);
  EXPECT_EQ(shapes["model.layers.1.self_attn.k_proj.weight"], (std::vector<int64_t>{8, 16}));
  EXPECT_EQ(shapes["model.layers.0.mlp.down_proj.weight"], (std::vector<int64_t>{16, 24}));
  EXPECT_EQ(shapes["lm_head.weight"], (std::vector<int64_t>{31, 16}));
}

TEST(DecoderTest, BiasesAndPositionsHaveNamesBesideThem) {
  ModelConfig model = SmallModel();
  MakeGpt2(model, /*max_positions=*/8);
  Decoder decoder(model, {});
  std::map<std::string, std::vector<int64_t>> shapes;
  ParameterStore& store = decoder.parameters();
  for (const StoredSlice& slice : store.slices()) {
    shapes[slice.logical.name] = slice.logical.global_shape;
    if (!slice.logical.name.ends_with(".bias")) continue;
    EXPECT_EQ(MasterOf(store, slice).abs().max().item<double>(), 0) << slice.logical.name;
  }
  EXPECT_EQ(shapes.size(), 2u * (2 * 2 + 6 * 2) + 2 + 2);
  EXPECT_EQ(shapes.count("model.layers.0.mlp.gate_proj.weight"), 0u);
  EXPECT_EQ(shapes["model.layers.1.self_attn.k_proj.bias"], (std::vector<int64_t>{8}));
  EXPECT_EQ(shapes["model.layers.0.mlp.up_proj.bias"], (std::vector<int64_t>{24}));
  EXPECT_EQ(shapes["model.layers.0.mlp.down_proj.bias"], (std::vector<int64_t>{16}));
  EXPECT_EQ(shapes["model.layers.0.input_layernorm.bias"], (std::vector<int64_t>{16}));
  EXPECT_EQ(shapes["model.norm.bias"], (std::vector<int64_t>{16}));
  EXPECT_EQ(shapes["model.embed_positions.weight"], (std::vector<int64_t>{8, 16}));
}

// As in Megatron-LM and nanoGPT, weight decay applies to matrices but not to biases and norms.
TEST(DecoderTest, MatricesDecayAndVectorsDoNot) {
  ModelConfig model = SmallModel();
  MakeGpt2(model, /*max_positions=*/8);
  Decoder decoder(model, {});
  const ParameterStore& store = decoder.parameters();
  for (const StoredSlice& slice : store.slices()) {
    const ElementRange decaying = store.groups()[slice.group].decaying;
    const bool decays = Intersect(slice.range, decaying).length == slice.range.length;
    EXPECT_EQ(decays, slice.logical.shape.size() == 2) << slice.logical.name;
  }
}

TEST(DecoderTest, ResidualProjectionsHaveASpreadOfTheirOwn) {
  ModelConfig model = SmallModel();
  model.hidden_size = 64;
  model.ffn_hidden_size = 128;
  MakeGpt2(model, /*max_positions=*/64);
  for (const double written : {0.0, 0.4}) {
    model.output_layer_init_method_std = written;
    const double expected = written > 0 ? written : 0.2 / std::sqrt(4.0);
    Decoder decoder(model, {});
    ParameterStore& store = decoder.parameters();
    for (const StoredSlice& slice : store.slices()) {
      const std::string& name = slice.logical.name;
      const bool residual =
          name.find("o_proj") != std::string::npos || name.find("down_proj") != std::string::npos;
      if (slice.logical.shape.size() < 2) continue;
      const double std = MasterOf(store, slice).std().item<double>();
      EXPECT_NEAR(std, residual ? expected : 0.2, 0.02) << name;
    }
  }
}

TEST(DecoderTest, HoldsAsManyParametersAsTheModelHasByItsSettings) {
  ModelConfig model;
  model.num_layers = 3;
  model.hidden_size = 24;
  model.ffn_hidden_size = 40;
  model.num_attention_heads = 6;
  model.num_query_groups = 2;
  model.vocab_size = 50;
  for (const bool untied : {true, false}) {
    model.untie_embeddings_and_output_weights = untied;
    Decoder decoder(model, {});
    EXPECT_EQ(ElementCount(decoder.parameters()), ParameterCount(model));
    ModelConfig gpt = model;
    gpt.add_bias_linear = true;
    Decoder with_biases(gpt, {});
    EXPECT_EQ(ElementCount(with_biases.parameters()), ParameterCount(gpt));
    MakeGpt2(gpt, /*max_positions=*/9);
    gpt.untie_embeddings_and_output_weights = untied;
    Decoder gpt2(gpt, {});
    EXPECT_EQ(ElementCount(gpt2.parameters()), ParameterCount(gpt));
  }
}

}  // namespace
}  // namespace trainyard::trainer

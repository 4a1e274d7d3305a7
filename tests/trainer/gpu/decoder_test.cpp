#include "trainer/model/decoder.h"
#include "tests/trainer/model/stored_slices.h"

#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"
#include "tests/trainer/gpu/torch_attention.h"
#include "tests/trainer/model/family_settings.h"
#include "tests/trainer/model/plain_llama.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Returns a model with heads of size 64, which cuDNN supports. Its vocabulary and batch sizes are
// not round numbers.
ModelConfig GpuModel(bool untied = true) {
  ModelConfig model;
  model.num_layers = 3;
  model.hidden_size = 256;
  model.ffn_hidden_size = 384;
  model.num_attention_heads = 4;
  model.num_query_groups = 2;
  model.vocab_size = 503;
  model.init_method_std = 0.05;
  model.untie_embeddings_and_output_weights = untied;
  return model;
}

DecoderOptions GpuOptions(torch::ScalarType type, Recompute recompute = Recompute::kNone) {
  DecoderOptions options;
  options.type = type;
  options.device = Gpu();
  options.blocks.recompute = recompute;
  return options;
}

// Returns tokens whose predictions have different weights, one of which is 0.
TrainingTokens GpuTokens(int64_t batch, int64_t length) {
  const Tensor weights = torch::rand({batch * length}, OnGpu(torch::kFloat32));
  weights[1] = 0;
  return {torch::randint(0, 503, {batch, length + 1}, OnGpu(torch::kInt64)), weights};
}

struct DecoderPass {
  double loss = 0;
  Tensor gradients;  // The flat buffer.
};

// Runs the micro-batches as one step.
DecoderPass RunPass(Decoder& decoder, const std::vector<TrainingTokens>& micro_batches,
                    WeightGradients::Timing timing = WeightGradients::Timing::kAtOnce) {
  Tensor loss = torch::zeros({}, OnGpu(torch::kFloat64));
  WeightGradients gradients(decoder.parameters(), timing);
  for (const TrainingTokens& batch : micro_batches) {
    decoder.ForwardBackward(batch, loss, gradients);
  }
  gradients.RunDeferred();
  return {loss.item<double>(), decoder.parameters().gradients().clone()};
}

struct PlainPass {
  double loss = 0;
  std::map<std::string, Tensor> gradients;  // By logical name, in fp64 on a CPU.
};

PlainPass RunPlain(PlainLlama plain, const TrainingTokens& batch, torch::Device device) {
  const Tensor loss = PlainLoss(plain, batch.tokens.to(device), batch.loss_weights.to(device));
  loss.backward();
  PlainPass pass{loss.item<double>(), {}};
  for (const auto& [name, weight] : plain.weights()) {
    pass.gradients[name] = Wide(weight.grad().cpu());
  }
  return pass;
}

// Bound for a gradient that would be 0 without rounding errors, relative to the norm of all
// gradients.
constexpr double kUnseen = 1e-5;

void ExpectEqualsPlainLlamaOnGpu(const ModelConfig& model) {
  torch::manual_seed(1);
  const TrainingTokens batch = GpuTokens(3, 128);
  Decoder decoder(model, GpuOptions(torch::kFloat32));
  RandomiseBiases(decoder.parameters());
  const PlainPass exact = RunPlain(PlainLlama(model, decoder), batch, torch::kCPU);
  const DecoderPass pass = RunPass(decoder, {batch});
  EXPECT_NEAR(pass.loss, exact.loss, 1e-6 * exact.loss);
  const ParameterStore& store = decoder.parameters();
  for (const StoredSlice& slice : store.slices()) {
    const std::string& name = slice.logical.name;
    const Tensor gradient = SliceOf(pass.gradients, slice);
    if (IsUnseen(model, name)) {
      EXPECT_LT(NormOf(gradient), kUnseen * NormOf(pass.gradients)) << name;
      continue;
    }
    EXPECT_LT(RelativeNorm(gradient, exact.gradients.at(name)), 1e-5) << name;
  }
}

TEST(DecoderGpuTest, SinglePrecisionEqualsPlainLlama) { ExpectEqualsPlainLlamaOnGpu(GpuModel()); }

TEST(DecoderGpuTest, TiedHeadEqualsPlainLlama) {
  ExpectEqualsPlainLlamaOnGpu(GpuModel(/*untied=*/false));
}

// Returns the factor by which the error of a gradient may exceed the reference. A bf16 gradient has
// no simple error bound, because its error depends on the errors of its inputs. Therefore the
// reference is the error of LibTorch's bf16 operations with autograd.
//
// The factor allows a fifth for random rounding. The factor is 2 for queries and keys with biases.
// A key bias is the same for all keys, so it multiplies the sum of a row's score gradients, which
// is 0 except for a few rounding errors. There, the errors of LibTorch's own two kernels were 0.8
// to 2.1 times the reference.
double ChanceOf(const ModelConfig& model, const std::string& name) {
  const bool sees_common_keys =
      model.add_bias_linear &&
      (name.find("q_proj") != std::string::npos || name.find("k_proj") != std::string::npos);
  return sees_common_keys ? 2.0 : 1.2;
}

void ExpectAsExactAsAutograd(const ModelConfig& model) {
  constexpr double kSlack = 1e-4;
  torch::manual_seed(2);
  const TrainingTokens batch = GpuTokens(3, 128);
  Decoder decoder(model, GpuOptions(torch::kBFloat16));
  RandomiseBiases(decoder.parameters());
  const PlainPass exact = RunPlain(PlainLlama(model, decoder), batch, torch::kCPU);
  const PlainPass peer =
      RunPlain(PlainLlama(model, decoder, {torch::kBFloat16, Gpu(), TorchAttention}), batch, Gpu());
  const DecoderPass pass = RunPass(decoder, {batch});
  EXPECT_NEAR(pass.loss, exact.loss, 1e-3 * exact.loss);
  const ParameterStore& store = decoder.parameters();
  for (const StoredSlice& slice : store.slices()) {
    const std::string& name = slice.logical.name;
    const Tensor& expected = exact.gradients.at(name);
    if (IsUnseen(model, name)) continue;  // Only bf16 rounding noise
    EXPECT_LE(RelativeNorm(SliceOf(pass.gradients, slice), expected),
              ChanceOf(model, name) * RelativeNorm(peer.gradients.at(name), expected) + kSlack)
        << name;
  }
}

TEST(DecoderGpuTest, SixteenBitIsAsExactAsAutograd) { ExpectAsExactAsAutograd(GpuModel()); }

TEST(DecoderGpuTest, SixteenBitWithTiedHeadIsAsExactAsAutograd) {
  ExpectAsExactAsAutograd(GpuModel(/*untied=*/false));
}

// Latent attention with the head sizes of DeepSeek-V3. Experts are tested by moe_test.cpp.
ModelConfig LatentGpuModel(int64_t query_rank) {
  ModelConfig model = GpuModel();
  model.num_query_groups = model.num_attention_heads;
  model.multi_latent_attention = true;
  model.q_lora_rank = query_rank;
  model.kv_lora_rank = 64;
  model.qk_head_dim = model.v_head_dim = 128;
  model.qk_pos_emb_head_dim = 64;
  return model;
}

// Returns the model families by name, with the sizes of GpuModel.
std::map<std::string, ModelConfig> GpuFamilies() {
  std::map<std::string, ModelConfig> families = {{"Qwen3", GpuModel(/*untied=*/false)},
                                                 {"OLMo", GpuModel()},
                                                 {"GPT-2", GpuModel()},
                                                 {"GPT-3 15B", GpuModel()},
                                                 {"GPT-NeoX", GpuModel()},
                                                 {"DeepSeek-V3", LatentGpuModel(96)},
                                                 {"DeepSeek-V2-Lite", LatentGpuModel(0)}};
  families["DeepSeek-V3"].rope_scaling_type = RopeScalingType::kYarn;
  families["DeepSeek-V3"].rope_scaling_factor = 40;
  families["DeepSeek-V3"].rope_original_length = 64;
  families["DeepSeek-V3"].rope_mscale_all_dim = 1;
  families["Qwen3"].kv_channels = 128;  // Larger than hidden_size / heads.
  families["Qwen3"].qk_layernorm = true;
  families["OLMo"].normalization = Normalization::kLayerNorm;
  families["OLMo"].norm_weights = false;
  MakeGpt2(families["GPT-2"], /*max_positions=*/131);
  MakeGpt3_15b(families["GPT-3 15B"]);
  MakeGptNeox(families["GPT-NeoX"]);
  return families;
}

// Returns families with experts, with the sizes of GpuModel. In bf16 they may choose other experts
// than the reference (moe_test.cpp tests a single layer in bf16).
std::map<std::string, ModelConfig> GpuFamiliesWithExperts() {
  std::map<std::string, ModelConfig> families = {{"Mixtral", GpuModel()}, {"DeepSeek", GpuModel()}};
  MakeMixtral(families["Mixtral"]);
  MakeDeepSeekMoe(families["DeepSeek"]);
  return families;
}

TEST(DecoderGpuTest, FamiliesInSinglePrecisionEqualPlainLlama) {
  for (const auto& families : {GpuFamilies(), GpuFamiliesWithExperts()}) {
    for (const auto& [name, model] : families) {
      SCOPED_TRACE(name);
      ExpectEqualsPlainLlamaOnGpu(model);
    }
  }
}

TEST(DecoderGpuTest, FamiliesInSixteenBitAreAsExactAsAutograd) {
  for (const auto& [name, model] : GpuFamilies()) {
    SCOPED_TRACE(name);
    ExpectAsExactAsAutograd(model);
  }
}

void ExpectRecomputesTheSameBits(const ModelConfig& model, const TrainingTokens& batch) {
  Decoder kept(model, GpuOptions(torch::kBFloat16));
  const DecoderPass expected = RunPass(kept, {batch});
  EXPECT_GT(NormOf(expected.gradients), 0);
  for (const Recompute recompute : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
    Decoder again(model, GpuOptions(torch::kBFloat16, recompute));
    const DecoderPass pass = RunPass(again, {batch});
    EXPECT_EQ(pass.loss, expected.loss);
    EXPECT_TRUE(SameBits(pass.gradients, expected.gradients));
  }
}

TEST(DecoderGpuTest, FamiliesRecomputeAndRepeatTheSameBits) {
  torch::manual_seed(8);
  const TrainingTokens batch = GpuTokens(3, 128);
  for (const auto& families : {GpuFamilies(), GpuFamiliesWithExperts()}) {
    for (const auto& [name, model] : families) {
      SCOPED_TRACE(name);
      ExpectRecomputesTheSameBits(model, batch);
    }
  }
}

TEST(DecoderGpuTest, RecomputationAndRepeatsChangeNoBit) {
  torch::manual_seed(3);
  const TrainingTokens batch = GpuTokens(3, 128);
  for (const torch::ScalarType type : kGpuTypes) {
    SCOPED_TRACE(ShapeName(type, {}));
    Decoder kept(GpuModel(), GpuOptions(type));
    const DecoderPass expected = RunPass(kept, {batch});
    EXPECT_GT(NormOf(expected.gradients), 0);
    for (const Recompute recompute : {Recompute::kSelective, Recompute::kFull}) {
      Decoder recomputed(GpuModel(), GpuOptions(type, recompute));
      const DecoderPass pass = RunPass(recomputed, {batch});
      EXPECT_EQ(pass.loss, expected.loss);
      EXPECT_TRUE(SameBits(pass.gradients, expected.gradients));
    }
    ExpectSameBitsInEveryRun([&] {
      kept.parameters().gradients().fill_(std::nan(""));
      const DecoderPass pass = RunPass(kept, {batch});
      EXPECT_EQ(pass.loss, expected.loss);
      // Compares only the parameters, because the padding between them still contains NaNs.
      std::vector<Tensor> gradients;
      for (int64_t i = 0; i < kept.parameters().size(); ++i) {
        gradients.push_back(kept.parameters().Gradient(i).clone());
      }
      return gradients;
    });
  }
}

TEST(DecoderGpuTest, LossWithoutGradientsIsTheSame) {
  torch::manual_seed(4);
  const TrainingTokens batch = GpuTokens(3, 128);
  for (const torch::ScalarType type : kGpuTypes) {
    Decoder decoder(GpuModel(), GpuOptions(type));
    Tensor loss = torch::zeros({}, OnGpu(torch::kFloat64));
    decoder.Loss(batch, loss);
    EXPECT_EQ(loss.item<double>(), RunPass(decoder, {batch}).loss);
  }
}

TEST(DecoderGpuTest, DeferredWeightGradientsAreTheSameBits) {
  torch::manual_seed(5);
  const std::vector<TrainingTokens> batches = {GpuTokens(3, 128), GpuTokens(3, 128)};
  for (const torch::ScalarType type : kGpuTypes) {
    Decoder decoder(GpuModel(), GpuOptions(type));
    const DecoderPass at_once = RunPass(decoder, batches);
    const DecoderPass deferred = RunPass(decoder, batches, WeightGradients::Timing::kDeferred);
    EXPECT_EQ(deferred.loss, at_once.loss);
    EXPECT_TRUE(SameBits(deferred.gradients, at_once.gradients));
  }
}

// The whole batch has more rows than one chunk of the head.
TEST(DecoderGpuTest, GradientsOfMicroBatchesAddUp) {
  torch::manual_seed(6);
  const int64_t samples = 68, length = 128;
  ASSERT_GT(samples * length, CrossEntropyRowsPerChunk(503, Gpu()));
  const TrainingTokens batch = GpuTokens(samples, length);
  const auto part = [&](int64_t first, int64_t count) {
    return TrainingTokens{batch.tokens.narrow(0, first, count),
                          batch.loss_weights.narrow(0, first * length, count * length)};
  };
  Decoder decoder(GpuModel(), GpuOptions(torch::kFloat32));
  const DecoderPass whole = RunPass(decoder, {batch});
  const DecoderPass parts = RunPass(decoder, {part(0, 30), part(30, 5), part(35, 33)});
  EXPECT_NEAR(parts.loss, whole.loss, 1e-6 * whole.loss);
  EXPECT_LT(RelativeNorm(parts.gradients, whole.gradients), 1e-5);
}

// Micro-batch gradients are summed in fp32, so the sum of two equal gradients is exactly twice one
// of them.
TEST(DecoderGpuTest, SixteenBitGradientsAddUpInSinglePrecision) {
  torch::manual_seed(7);
  const TrainingTokens batch = GpuTokens(3, 128);
  Decoder decoder(GpuModel(), GpuOptions(torch::kBFloat16));
  const DecoderPass once = RunPass(decoder, {batch});
  const DecoderPass twice = RunPass(decoder, {batch, batch});
  EXPECT_NEAR(twice.loss, 2 * once.loss, 1e-12 * once.loss);
  EXPECT_LT(RelativeNorm(twice.gradients, 2 * once.gradients), 1e-5);
}

}  // namespace
}  // namespace trainyard::trainer

#include "proto/contract/run_rules.h"
#include "trainer/model/decoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "proto/contract/model_size.h"
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

// LLaMA as written in Hugging Face's modelling code: separate projections, plain operations, fp64.
class PlainLlama {
 public:
  PlainLlama(const ModelConfig& model, Decoder& source) : model_(model) {
    ParameterStore& store = source.parameters();
    for (const StoredSlice& slice : store.slices()) {
      weights_[slice.logical.name] =
          store.SliceOf(store.master(), slice).to(torch::kFloat64).set_requires_grad(true);
    }
  }

  Tensor Logits(const Tensor& tokens) {
    Tensor x = at::embedding(W("model.embed_tokens"), tokens);
    for (int64_t i = 0; i < model_.num_layers; ++i) {
      const std::string layer = "model.layers." + std::to_string(i) + ".";
      const Tensor h = Norm(x, layer + "input_layernorm");
      x = x + at::linear(Attention(h, layer + "self_attn."), W(layer + "self_attn.o_proj"));
      const Tensor f = Norm(x, layer + "post_attention_layernorm");
      x = x + at::linear(at::silu(at::linear(f, W(layer + "mlp.gate_proj"))) *
                             at::linear(f, W(layer + "mlp.up_proj")),
                         W(layer + "mlp.down_proj"));
    }
    const bool untied = model_.untie_embeddings_and_output_weights;
    return at::linear(Norm(x, "model.norm"), W(untied ? "lm_head" : "model.embed_tokens"));
  }

  const std::map<std::string, Tensor>& weights() const { return weights_; }

 private:
  const Tensor& W(const std::string& name) { return weights_.at(name + ".weight"); }

  Tensor Norm(const Tensor& x, const std::string& name) {
    return x * (x.square().mean(-1, true) + model_.norm_epsilon).rsqrt() * W(name);
  }

  Tensor Rotate(const Tensor& x) {
    const int64_t half = HeadSize(model_) / 2;
    const auto table = MakeRotaryTable(x.size(2), HeadSize(model_), model_.rotary_base,
                                       torch::kFloat64, torch::kCPU);
    const Tensor cos = torch::cat({table.cos, table.cos}, -1);
    const Tensor sin = torch::cat({table.sin, table.sin}, -1);
    return x * cos + torch::cat({-x.narrow(-1, half, half), x.narrow(-1, 0, half)}, -1) * sin;
  }

  Tensor Attention(const Tensor& h, const std::string& prefix) {
    const int64_t batch = h.size(0), length = h.size(1), size = HeadSize(model_);
    const auto heads = [&](const char* name) {
      return at::linear(h, W(prefix + name)).view({batch, length, -1, size}).transpose(1, 2);
    };
    const int64_t share = model_.num_attention_heads / model_.num_query_groups;
    const Tensor key = Rotate(heads("k_proj")).repeat_interleave(share, 1);
    const Tensor value = heads("v_proj").repeat_interleave(share, 1);
    const Tensor future = torch::ones({length, length}, torch::kBool).triu(1);
    const Tensor scores =
        Rotate(heads("q_proj")).matmul(key.transpose(2, 3)) / std::sqrt(static_cast<double>(size));
    const Tensor weights = at::softmax(scores.masked_fill(future, -1e300), -1);
    return weights.matmul(value).transpose(1, 2).reshape({batch, length, -1});
  }

  ModelConfig model_;
  std::map<std::string, Tensor> weights_;
};

Tensor PlainSumLoss(PlainLlama& plain, const Tensor& tokens) {
  const int64_t length = tokens.size(1) - 1;
  const Tensor chances = at::log_softmax(plain.Logits(tokens.narrow(1, 0, length)), -1);
  return -chances.gather(2, tokens.narrow(1, 1, length).unsqueeze(2)).sum();
}

// Loss and gradients of every logical tensor, against the plain model.
void ExpectEqualsPlainLlama(const ModelConfig& model) {
  torch::manual_seed(1);
  const Tensor tokens = torch::randint(0, model.vocab_size, {3, 9}, torch::kInt64);
  Decoder decoder(model, {});
  PlainLlama plain(model, decoder);
  const Tensor expected = PlainSumLoss(plain, tokens);
  expected.backward();
  const Tensor loss = decoder.SumLoss(tokens);
  loss.backward();
  EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-5 * expected.item<double>());
  ParameterStore& store = decoder.parameters();
  for (const StoredSlice& slice : store.slices()) {
    const Tensor reference = plain.weights().at(slice.logical.name).grad();
    const Tensor actual = store.SliceOf(store.gradients(), slice).to(torch::kFloat64);
    const double error = (actual - reference).norm().item<double>();
    EXPECT_LT(error / reference.norm().item<double>(), 1e-5) << slice.logical.name;
  }
}

TEST(DecoderTest, LossAndGradientsEqualPlainLlama) { ExpectEqualsPlainLlama(SmallModel()); }

TEST(DecoderTest, TiedHeadEqualsPlainLlama) {
  ModelConfig model = SmallModel();
  model.untie_embeddings_and_output_weights = false;
  ExpectEqualsPlainLlama(model);
}

TEST(DecoderTest, LogitsEqualPlainLlama) {
  torch::manual_seed(2);
  Decoder decoder(SmallModel(), {});
  PlainLlama plain(SmallModel(), decoder);
  const Tensor tokens = torch::randint(0, 31, {2, 7}, torch::kInt64);
  EXPECT_LT(RelativeError(decoder.Logits(tokens), plain.Logits(tokens)), 1e-5);
}

TEST(DecoderTest, RecomputationChangesNoBit) {
  torch::manual_seed(3);
  const Tensor tokens = torch::randint(0, 31, {2, 8}, torch::kInt64);
  DecoderOptions options;
  Decoder kept(SmallModel(), options);
  options.recompute = Recompute::kFull;
  Decoder recomputed(SmallModel(), options);
  kept.SumLoss(tokens).backward();
  recomputed.SumLoss(tokens).backward();
  EXPECT_TRUE(recomputed.parameters().gradients().equal(kept.parameters().gradients()));
  EXPECT_GT(kept.parameters().gradients().abs().sum().item<double>(), 0);
}

TEST(DecoderTest, SixteenBitStaysNearSinglePrecision) {
  torch::manual_seed(4);
  const Tensor tokens = torch::randint(0, 31, {2, 8}, torch::kInt64);
  DecoderOptions options;
  Decoder single(SmallModel(), options);
  options.type = torch::kBFloat16;
  Decoder half(SmallModel(), options);
  const Tensor expected = single.SumLoss(tokens), actual = half.SumLoss(tokens);
  EXPECT_NEAR(actual.item<double>(), expected.item<double>(), 0.02 * expected.item<double>());
  expected.backward();
  actual.backward();
  half.parameters().CollectGradients();
  EXPECT_LT(RelativeError(half.parameters().gradients(), single.parameters().gradients()), 0.05);
  // The master weights are not rounded to 16 bits.
  EXPECT_TRUE(half.parameters().master().equal(single.parameters().master()));
}

TEST(DecoderTest, FreshModelPredictsUniformly) {
  ModelConfig model = SmallModel();
  model.init_method_std = 0.002;
  Decoder decoder(model, {});
  const Tensor tokens = torch::randint(0, 31, {2, 8}, torch::kInt64);
  torch::NoGradGuard no_grad;
  EXPECT_NEAR(decoder.SumLoss(tokens).item<double>() / 14, std::log(31), 0.01);
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

TEST(DecoderTest, ResidualProjectionsStartSmaller) {
  ModelConfig model = SmallModel();
  model.hidden_size = 64;
  model.ffn_hidden_size = 128;
  Decoder decoder(model, {});
  ParameterStore& store = decoder.parameters();
  for (const StoredSlice& slice : store.slices()) {
    const std::string& name = slice.logical.name;
    const bool residual =
        name.find("o_proj") != std::string::npos || name.find("down_proj") != std::string::npos;
    if (slice.logical.shape.size() < 2) continue;
    const double std = store.SliceOf(store.master(), slice).std().item<double>();
    EXPECT_NEAR(std, residual ? 0.2 / std::sqrt(4.0) : 0.2, 0.02) << name;
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
    EXPECT_EQ(decoder.parameters().element_count(), ParameterCount(model));
  }
}

}  // namespace
}  // namespace trainyard::trainer

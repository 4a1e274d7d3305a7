// LLaMA as in Hugging Face's modeling code: separate projections, plain operations, and gradients
// by autograd. It also has the features in which other families differ. In fp64 it is the
// reference. In bf16 it shows how large the errors of our model may be.
#ifndef TRAINYARD_TESTS_TRAINER_MODEL_PLAIN_LLAMA_H_
#define TRAINYARD_TESTS_TRAINER_MODEL_PLAIN_LLAMA_H_

#include <torch/autograd.h>
#include <torch/utils.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "proto/model/model_size.h"
#include "tests/trainer/model/plain_moe.h"
#include "tests/trainer/model/stored_slices.h"
#include "trainer/model/attention/rotary_settings.h"
#include "trainer/model/decoder.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {

// Computes causal attention by the plain formula. `query` is [batch, query_heads, length,
// head_size]. `key` and `value` may have fewer heads, each for several consecutive query heads.
inline torch::Tensor PlainAttention(const torch::Tensor& query, const torch::Tensor& key,
                                    const torch::Tensor& value) {
  const int64_t length = query.size(2), share = query.size(1) / key.size(1);
  const torch::Tensor keys = key.repeat_interleave(share, 1);
  const torch::Tensor scores =
      query.matmul(keys.transpose(2, 3)) / std::sqrt(static_cast<double>(query.size(3)));
  const torch::Tensor future =
      torch::ones({length, length}, query.options().dtype(torch::kBool)).triu(1);
  const torch::Tensor masked = scores.masked_fill(future, -std::numeric_limits<double>::infinity());
  const torch::Tensor weights = at::softmax(masked, -1, ComputeType(query.scalar_type()));
  return weights.to(query.scalar_type()).matmul(value.repeat_interleave(share, 1));
}

struct PlainLlamaOptions {
  torch::ScalarType type = torch::kFloat64;
  torch::Device device = torch::kCPU;
  std::function<decltype(PlainAttention)> attention = PlainAttention;
};

class PlainLlama {
 public:
  // Copies the values that `source` uses in its computations.
  PlainLlama(const ModelConfig& model, Decoder& source, PlainLlamaOptions options = {})
      : model_(model), options_(std::move(options)) {
    ParameterStore& store = source.parameters();
    for (const StoredSlice& slice : store.slices()) {
      weights_[slice.logical.name] = SliceOf(store.values(), slice)
                                         .to(options_.device, options_.type)
                                         .clone()
                                         .set_requires_grad(true);
    }
    const torch::Tensor bias = source.expert_balance().bias;
    if (bias.defined()) expert_bias_ = bias.to(options_.device);
  }

  // `tokens` must be on the model's device.
  torch::Tensor Logits(const torch::Tensor& tokens) {
    balance_loss_ = torch::zeros({}, torch::device(options_.device).dtype(torch::kFloat64));
    torch::Tensor x = at::embedding(W("model.embed_tokens"), tokens);
    if (HasLearnedPositions()) x = x + W("model.embed_positions").narrow(0, 0, tokens.size(1));
    for (int64_t i = 0; i < model_.num_layers; ++i) x = Layer(x, i);
    hidden_ = Norm(x, "model.norm");
    return Head(hidden_);
  }

  // Returns the logits of a module of multi-token prediction. Must be called in the order of the
  // modules. `tokens` are the module's inputs.
  torch::Tensor MtpLogits(const torch::Tensor& tokens, int64_t module) {
    const int64_t layer = model_.num_layers + module;
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    const torch::Tensor embedding = at::embedding(W("model.embed_tokens"), tokens);
    const torch::Tensor joined =
        at::cat({Norm(embedding, prefix + "enorm"), Norm(hidden_, prefix + "hnorm")}, -1);
    const torch::Tensor y = Layer(at::linear(joined, W(prefix + "eh_proj")), layer);
    hidden_ = Norm(y, prefix + "shared_head.norm");
    return Head(hidden_);
  }

  const std::map<std::string, torch::Tensor>& weights() const { return weights_; }
  // The sum of the balance losses of all layers for the latest logits; 0 without experts.
  const torch::Tensor& balance_loss() const { return balance_loss_; }

 private:
  const torch::Tensor& W(const std::string& name) { return weights_.at(name + ".weight"); }

  bool HasLearnedPositions() const {
    return model_.position_embedding_type == PositionEmbedding::kLearnedAbsolute;
  }

  torch::Tensor Head(const torch::Tensor& normal) {
    const bool untied = model_.untie_embeddings_and_output_weights;
    return at::linear(normal, W(untied ? "lm_head" : "model.embed_tokens"));
  }

  torch::Tensor Layer(const torch::Tensor& x, int64_t number) {
    const std::string layer = "model.layers." + std::to_string(number) + ".";
    const torch::Tensor h = Norm(x, layer + "input_layernorm");
    const torch::Tensor attention =
        Linear(Attention(h, layer + "self_attn."), layer + "self_attn.o_proj");
    const torch::Tensor middle = x + attention;
    const torch::Tensor f =
        Norm(model_.parallel_residual ? x : middle, layer + "post_attention_layernorm");
    return middle + FeedForward(f, number, layer + "mlp.");
  }

  torch::Tensor Linear(const torch::Tensor& x, const std::string& name) {
    return at::linear(x, W(name), HasBias(name) ? weights_.at(name + ".bias") : torch::Tensor());
  }

  bool HasBias(const std::string& name) const {
    const bool is_qkv =
        name.ends_with("q_proj") || name.ends_with("k_proj") || name.ends_with("v_proj");
    return model_.add_bias_linear || (model_.add_qkv_bias && is_qkv);
  }

  torch::Tensor FeedForward(const torch::Tensor& f, int64_t layer, const std::string& prefix) {
    if (KindsOf(model_, {layer, 1}).expert == 0) {
      return Linear(Activate(f, prefix), prefix + "down_proj");
    }
    const torch::Tensor bias = expert_bias_.defined() ? expert_bias_[layer] : torch::Tensor();
    const PlainMoe moe(model_, weights_, prefix, bias);
    balance_loss_ = balance_loss_ + moe.BalanceLoss(f);
    return moe.Forward(f);
  }

  torch::Tensor Activate(const torch::Tensor& f, const std::string& prefix) {
    const torch::Tensor up = Linear(f, prefix + "up_proj");
    switch (model_.activation) {
      case Activation::kSwiglu:
        return at::silu(Linear(f, prefix + "gate_proj")) * up;
      case Activation::kGelu:
        return at::gelu(up);
      case Activation::kGeluTanh:
        return at::gelu(up, "tanh");
      case Activation::kSquaredRelu:
        return at::relu(up).square();
    }
    return torch::Tensor();
  }

  torch::Tensor Norm(const torch::Tensor& x, const std::string& name) {
    if (model_.normalization == Normalization::kLayerNorm) {
      const bool has_weights = model_.norm_weights;
      return at::layer_norm(x, {x.size(-1)}, has_weights ? W(name) : torch::Tensor(),
                            has_weights ? weights_.at(name + ".bias") : torch::Tensor(),
                            model_.norm_epsilon);
    }
    return RmsNorm(x, name);
  }

  torch::Tensor RmsNorm(const torch::Tensor& x, const std::string& name) {
    const torch::Tensor wide = x.to(ComputeType(options_.type));
    const torch::Tensor normal =
        wide * (wide.square().mean(-1, true) + model_.norm_epsilon).rsqrt();
    return W(name) * normal.to(options_.type);
  }

  // Rotates in the compute type, as Meta's code does. Hugging Face's code rounds more often.
  torch::Tensor Rotate(const torch::Tensor& heads) {
    if (HasLearnedPositions()) return heads;
    const int64_t turned = std::lround(model_.rotary_percent * heads.size(3)), half = turned / 2;
    const torch::Tensor x = heads.narrow(3, 0, turned);
    const torch::Tensor kept = heads.narrow(3, turned, heads.size(3) - turned);
    const auto compute = ComputeType(options_.type);
    const auto table = MakeRotaryTable(torch::arange(x.size(2), torch::device(options_.device)),
                                       turned, FrequenciesOf(model_), compute);
    const torch::Tensor cos = torch::cat({table.cos, table.cos}, -1);
    const torch::Tensor sin = torch::cat({table.sin, table.sin}, -1);
    const torch::Tensor wide = x.to(compute);
    const torch::Tensor swapped =
        torch::cat({-wide.narrow(-1, half, half), wide.narrow(-1, 0, half)}, -1);
    return torch::cat({(wide * cos + swapped * sin).to(options_.type), kept}, -1);
  }

  torch::Tensor Attention(const torch::Tensor& h, const std::string& prefix) {
    if (HasLatentAttention(model_)) return LatentAttention(h, prefix);
    const int64_t batch = h.size(0), length = h.size(1), size = HeadSize(model_);
    const auto heads = [&](const char* name) {
      return Linear(h, prefix + name).view({batch, length, -1, size}).transpose(1, 2);
    };
    const auto normed = [&](const char* projection, const char* norm) {
      return model_.qk_layernorm ? RmsNorm(heads(projection), prefix + norm) : heads(projection);
    };
    return options_
        .attention(Rotate(normed("q_proj", "q_norm")), Rotate(normed("k_proj", "k_norm")),
                   heads("v_proj"))
        .transpose(1, 2)
        .reshape({batch, length, -1});
  }

  // Latent attention by its formulas. The scale of the scores is written out, because
  // PlainAttention knows only the size of a head.
  torch::Tensor LatentAttention(const torch::Tensor& h, const std::string& prefix) {
    const int64_t batch = h.size(0), length = h.size(1), heads = model_.num_attention_heads;
    const int64_t plain = model_.qk_head_dim, turned = model_.qk_pos_emb_head_dim;
    const int64_t rank = model_.kv_lora_rank;
    const auto as_heads = [&](const torch::Tensor& rows) {
      return rows.view({batch, length, heads, -1}).transpose(1, 2);
    };
    const torch::Tensor query =
        as_heads(model_.q_lora_rank == 0
                     ? Linear(h, prefix + "q_proj")
                     : Linear(RmsNorm(Linear(h, prefix + "q_a_proj"), prefix + "q_a_layernorm"),
                              prefix + "q_b_proj"));
    const torch::Tensor down = Linear(h, prefix + "kv_a_proj_with_mqa");
    const torch::Tensor raised = as_heads(
        Linear(RmsNorm(down.narrow(2, 0, rank), prefix + "kv_a_layernorm"), prefix + "kv_b_proj"));
    const torch::Tensor shared = Rotate(down.narrow(2, rank, turned).unsqueeze(1));
    const torch::Tensor key =
        torch::cat({raised.narrow(3, 0, plain), shared.expand({batch, heads, length, turned})}, 3);
    double scale = 1 / std::sqrt(static_cast<double>(plain + turned));
    if (model_.rope_scaling_type == RopeScalingType::kYarn) {
      scale *=
          std::pow(1 + 0.1 * model_.rope_mscale_all_dim * std::log(model_.rope_scaling_factor), 2);
    }
    const torch::Tensor rotated =
        torch::cat({query.narrow(3, 0, plain), Rotate(query.narrow(3, plain, turned))}, 3);
    const torch::Tensor usual = rotated * (scale * std::sqrt(static_cast<double>(plain + turned)));
    return options_.attention(usual, key, raised.narrow(3, plain, model_.v_head_dim))
        .transpose(1, 2)
        .reshape({batch, length, -1});
  }

  ModelConfig model_;
  PlainLlamaOptions options_;
  std::map<std::string, torch::Tensor> weights_;
  torch::Tensor expert_bias_;  // [layers, experts]; may be undefined.
  torch::Tensor balance_loss_;
  torch::Tensor hidden_;  // Normalized hidden states of the latest logits.
};

// `loss_weights` has one weight per prediction, [batch * length]. Both tensors must be on the
// model's device.
inline torch::Tensor PlainLoss(PlainLlama& plain, const torch::Tensor& tokens,
                               const torch::Tensor& loss_weights) {
  const int64_t length = tokens.size(1) - 1;
  const torch::Tensor logits = plain.Logits(tokens.narrow(1, 0, length));
  const torch::Tensor chances = at::log_softmax(logits, -1, ComputeType(logits.scalar_type()));
  const torch::Tensor losses = -chances.gather(2, tokens.narrow(1, 1, length).unsqueeze(2));
  return (losses.flatten() * loss_weights.to(losses.scalar_type())).sum();
}

// Sets biases to random values. Their initial value 0 would hide some errors.
inline void RandomiseBiases(ParameterStore& store) {
  for (const StoredSlice& slice : store.slices()) {
    if (!slice.logical.name.ends_with(".bias")) continue;
    store.SetMaster(slice, torch::randn({slice.range.length}) * 0.2);
  }
}

// True if the gradient is only rounding noise. Without rotary positions, the key bias adds the same
// number to all scores of a query, which attention ignores.
inline bool IsUnseen(const ModelConfig& model, const std::string& name) {
  return model.position_embedding_type == PositionEmbedding::kLearnedAbsolute &&
         name.ends_with("k_proj.bias");
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_MODEL_PLAIN_LLAMA_H_

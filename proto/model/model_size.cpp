#include "proto/model/model_size.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {
namespace {

// Returns the length for which full attention costs as much as attention with the model's window.
// Without a window, this is the sequence length. With a window of w keys, the first w queries see
// 1, 2, ..., w keys, and each later query sees w keys. The result is then 2 * m - 1, where m is the
// mean number of keys per query.
double LengthSeen(const ModelConfig& model, int64_t seq_length) {
  const auto length = static_cast<double>(seq_length);
  const auto window = static_cast<double>(EffectiveWindow(model, seq_length));
  return window == 0 ? length : window * (2 * length - window + 1) / length - 1;
}

// Returns the attention FLOPs per token over a length of LengthSeen, without the reduction for
// causal attention.
double AttentionFlops(const ModelConfig& model, int64_t seq_length) {
  return static_cast<double>(12 * LayersWithMtp(model) * model.num_attention_heads) *
         MeanHeadSize(model) * LengthSeen(model, seq_length);
}

LayerKinds AllLayers(const ModelConfig& model) { return KindsOf(model, {0, LayersWithMtp(model)}); }

int64_t HeadCount(const ModelConfig& model) { return model.vocab_size * model.hidden_size; }

// Returns the number of weights of a feed-forward layer with or without a gate.
int64_t FeedForwardCount(const ModelConfig& model, int64_t width) {
  return (HasGate(model) ? 3 : 2) * model.hidden_size * width;
}

// Returns the number of a block's weights that every token uses, without the norms.
int64_t SharedCount(const ModelConfig& model, BlockKind kind) {
  const BlockMatrices block = BlockMatricesOf(model, kind);
  return block.cut + model.num_query_groups * block.keys + block.whole;
}

// Returns the number of weights of the experts to which a token is not routed.
int64_t UnusedExpertCount(const ModelConfig& model) {
  return AllLayers(model).expert * (model.num_experts - model.moe_router_topk) *
         ExpertParameterCount(model);
}

// Returns the numbers of weights of latent attention's projections.
BlockMatrices LatentMatrices(const ModelConfig& model) {
  const int64_t heads = model.num_attention_heads, hidden = model.hidden_size;
  const int64_t from = model.q_lora_rank > 0 ? model.q_lora_rank : hidden;
  const int64_t down = model.q_lora_rank > 0 ? hidden * model.q_lora_rank : 0;
  return {.cut = heads * (from * QueryHeadSize(model) +
                          model.kv_lora_rank * (model.qk_head_dim + model.v_head_dim) +
                          model.v_head_dim * hidden),
          .whole = down + hidden * (model.kv_lora_rank + model.qk_pos_emb_head_dim)};
}

BlockMatrices AttentionMatrices(const ModelConfig& model) {
  if (HasLatentAttention(model)) return LatentMatrices(model);
  return {.cut = 2 * model.hidden_size * model.num_attention_heads * HeadSize(model),
          .keys = model.hidden_size * 2 * HeadSize(model)};
}

}  // namespace

bool HasGate(const ModelConfig& model) { return model.activation == Activation::kSwiglu; }

bool HasExperts(const ModelConfig& model) { return model.num_experts > 0; }

bool HasSharedExpert(const ModelConfig& model) {
  return model.moe_shared_expert_intermediate_size > 0;
}

bool HasLatentAttention(const ModelConfig& model) { return model.kv_lora_rank > 0; }

int64_t ExpertWidth(const ModelConfig& model) {
  return model.moe_ffn_hidden_size > 0 ? model.moe_ffn_hidden_size : model.ffn_hidden_size;
}

int64_t HeadSize(const ModelConfig& model) {
  return model.kv_channels > 0 ? model.kv_channels : UsualHeadSize(model);
}

int64_t UsualHeadSize(const ModelConfig& model) {
  return model.hidden_size / std::max<int64_t>(model.num_attention_heads, 1);
}

int64_t RotarySize(const ModelConfig& model) {
  if (HasLatentAttention(model)) return model.qk_pos_emb_head_dim;
  return std::llround(model.rotary_percent * static_cast<double>(HeadSize(model)));
}

int64_t QueryHeadSize(const ModelConfig& model) {
  return HasLatentAttention(model) ? model.qk_head_dim + model.qk_pos_emb_head_dim
                                   : HeadSize(model);
}

double MeanHeadSize(const ModelConfig& model) {
  const auto query = static_cast<double>(QueryHeadSize(model));
  return HasLatentAttention(model) ? (query + static_cast<double>(model.v_head_dim)) / 2 : query;
}

LayerKinds KindsOf(const ModelConfig& model, const IndexRange& layers) {
  if (!HasExperts(model)) return {.dense = layers.length};
  const int64_t dense = std::clamp<int64_t>(model.moe_dense_layers - layers.first, 0,
                                            std::max<int64_t>(layers.length, 0));
  return {.dense = dense, .expert = layers.length - dense};
}

bool HasExpertsIn(int64_t layer, const ModelConfig& model) {
  return KindsOf(model, {layer, 1}).expert > 0;
}

int64_t LayersWithMtp(const ModelConfig& model) { return model.num_layers + model.mtp_num_layers; }

bool HasTableAtBothEnds(const ModelConfig& model) {
  return !model.untie_embeddings_and_output_weights || model.mtp_num_layers > 0;
}

BlockMatrices BlockMatricesOf(const ModelConfig& model, BlockKind kind) {
  BlockMatrices block = AttentionMatrices(model);
  if (kind == BlockKind::kDense) {
    block.cut += FeedForwardCount(model, model.ffn_hidden_size);
  } else {
    block.cut += FeedForwardCount(model, model.moe_shared_expert_intermediate_size);
    block.whole += model.hidden_size * model.num_experts;
  }
  return block;
}

int64_t ExpertParameterCount(const ModelConfig& model) {
  return FeedForwardCount(model, ExpertWidth(model));
}

int64_t MtpProjectionCount(const ModelConfig& model) {
  return 2 * model.hidden_size * model.hidden_size;
}

bool HasQkvBias(const ModelConfig& model) { return model.add_bias_linear || model.add_qkv_bias; }

BlockBiases BlockBiasesOf(const ModelConfig& model) {
  BlockBiases biases;
  if (HasQkvBias(model)) {
    biases.cut = model.num_attention_heads * HeadSize(model);
    biases.keys = 2 * HeadSize(model);
  }
  if (model.add_bias_linear) {
    biases.cut += (HasGate(model) ? 2 : 1) * model.ffn_hidden_size;
    biases.whole = 2 * model.hidden_size;
  }
  return biases;
}

int64_t NormVectors(const ModelConfig& model) {
  if (!model.norm_weights) return 0;
  return model.normalization == Normalization::kLayerNorm ? 2 : 1;
}

int64_t BlockNormCount(const ModelConfig& model) {
  const int64_t branches = 2 * NormVectors(model) * model.hidden_size;
  if (HasLatentAttention(model)) return branches + model.q_lora_rank + model.kv_lora_rank;
  return branches + (model.qk_layernorm ? 2 * HeadSize(model) : 0);
}

int64_t MatrixParameterCount(const ModelConfig& model) {
  const LayerKinds layers = AllLayers(model);
  return layers.dense * SharedCount(model, BlockKind::kDense) +
         layers.expert * (SharedCount(model, BlockKind::kExpert) +
                          model.moe_router_topk * ExpertParameterCount(model)) +
         model.mtp_num_layers * MtpProjectionCount(model) + HeadCount(model);
}

int64_t ActiveParameterCount(const ModelConfig& model) {
  const int64_t single_norms = 1 + 3 * model.mtp_num_layers;
  const int64_t norms = LayersWithMtp(model) * BlockNormCount(model) +
                        single_norms * NormVectors(model) * model.hidden_size;
  const BlockBiases block = BlockBiasesOf(model);
  const int64_t biases =
      LayersWithMtp(model) * (block.cut + model.num_query_groups * block.keys + block.whole);
  const bool has_table = model.position_embedding_type == PositionEmbedding::kLearnedAbsolute;
  const int64_t positions = has_table ? model.max_position_embeddings * model.hidden_size : 0;
  const int64_t embedding = model.untie_embeddings_and_output_weights
                                ? HeadCount(model)
                                : 0;  // A tied head has no weights of its own.
  return MatrixParameterCount(model) + norms + biases + positions + embedding;
}

// Only the experts can make the count too large, because the limits of the other settings are low
// enough.
bool HasCountableSize(const ModelConfig& model) {
  constexpr double kMost = 0.99 * static_cast<double>(std::numeric_limits<int64_t>::max());
  return static_cast<double>(AllLayers(model).expert) *
             static_cast<double>(std::max(model.num_experts, model.moe_router_topk)) *
             static_cast<double>(ExpertParameterCount(model)) <
         kMost;
}

int64_t ParameterCount(const ModelConfig& model) {
  return ActiveParameterCount(model) + UnusedExpertCount(model);
}

int64_t ExpertWidthFor(const ModelConfig& model, double total) {
  if (!HasExperts(model)) return 0;
  ModelConfig other = model;
  const auto sum = [&other](int64_t width) {
    other.moe_ffn_hidden_size = width;
    if (other.moe_shared_expert_intermediate_size > 0) {
      other.moe_shared_expert_intermediate_size = width;
    }
    return static_cast<double>(ParameterCount(other));
  };
  const double one = sum(1), two = sum(2);
  const double width = 1 + (total - one) / (two - one);
  return width < 1 ? 0 : std::llround(width);
}

int64_t EffectiveWindow(const ModelConfig& model, int64_t seq_length) {
  return model.window_size < seq_length ? model.window_size : 0;
}

double TrainingFlopsPerToken(const ModelConfig& model, int64_t seq_length) {
  // Every module of multi-token prediction uses the head again.
  const int64_t matrices = MatrixParameterCount(model) + model.mtp_num_layers * HeadCount(model);
  return 6.0 * static_cast<double>(matrices) + AttentionFlops(model, seq_length);
}

double CausalTrainingFlopsPerToken(const ModelConfig& model, int64_t seq_length) {
  return TrainingFlopsPerToken(model, seq_length) - AttentionFlops(model, seq_length) / 2;
}

}  // namespace trainyard

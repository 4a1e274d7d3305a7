#include "proto/contract/model_size.h"

#include <algorithm>
#include <cmath>

#include "proto/contract/attention_rules.h"

namespace trainyard {
namespace {

// Twice the average number of keys seen by a causal query, minus one; the length itself without a
// window. With a window of w, the first w queries see 1, 2, ..., w keys, the others w.
double LengthSeen(const ModelConfig& model, int64_t seq_length) {
  const auto length = static_cast<double>(seq_length);
  const auto window = static_cast<double>(EffectiveWindow(model, seq_length));
  return window == 0 ? length : window * (2 * length - window + 1) / length - 1;
}

// Operations per token, over the length it would see without causality.
double AttentionFlops(const ModelConfig& model, int64_t seq_length) {
  return static_cast<double>(12 * model.num_layers * model.num_attention_heads * HeadSize(model)) *
         LengthSeen(model, seq_length);
}

}  // namespace

int64_t HeadSize(const ModelConfig& model) {
  if (model.kv_channels > 0) return model.kv_channels;
  return model.hidden_size / std::max<int64_t>(model.num_attention_heads, 1);
}

int64_t RotarySize(const ModelConfig& model) {
  return std::llround(model.rotary_percent * static_cast<double>(HeadSize(model)));
}

BlockMatrices BlockMatricesOf(const ModelConfig& model) {
  const int64_t queries = model.num_attention_heads * HeadSize(model);
  const int64_t ffn_matrices = HasGate(model) ? 3 : 2;
  return {.cut = model.hidden_size * (2 * queries + ffn_matrices * model.ffn_hidden_size),
          .keys = model.hidden_size * 2 * HeadSize(model)};
}

bool HasGate(const ModelConfig& model) { return model.activation == Activation::kSwiglu; }

BlockBiases BlockBiasesOf(const ModelConfig& model) {
  if (!model.add_bias_linear) return {};
  return {.cut = model.num_attention_heads * HeadSize(model) +
                 (HasGate(model) ? 2 : 1) * model.ffn_hidden_size,
          .keys = 2 * HeadSize(model),
          .whole = 2 * model.hidden_size};
}

int64_t NormVectors(const ModelConfig& model) {
  if (!model.norm_weights) return 0;
  return model.normalization == Normalization::kLayerNorm ? 2 : 1;
}

int64_t MatrixParameterCount(const ModelConfig& model) {
  const BlockMatrices block = BlockMatricesOf(model);
  return model.num_layers * (block.cut + model.num_query_groups * block.keys) +
         model.vocab_size * model.hidden_size;
}

int64_t ParameterCount(const ModelConfig& model) {
  const int64_t norms = (2 * model.num_layers + 1) * NormVectors(model) * model.hidden_size +
                        (model.qk_layernorm ? 2 * model.num_layers * HeadSize(model) : 0);
  const BlockBiases block = BlockBiasesOf(model);
  const int64_t biases =
      model.num_layers * (block.cut + model.num_query_groups * block.keys + block.whole);
  const bool has_table = model.position_embedding_type == PositionEmbedding::kLearnedAbsolute;
  const int64_t positions = has_table ? model.max_position_embeddings * model.hidden_size : 0;
  const int64_t embedding = model.untie_embeddings_and_output_weights
                                ? model.vocab_size * model.hidden_size
                                : 0;  // Tied: the head uses the embedding's weights.
  return MatrixParameterCount(model) + norms + biases + positions + embedding;
}

double TrainingFlopsPerToken(const ModelConfig& model, int64_t seq_length) {
  return 6.0 * static_cast<double>(MatrixParameterCount(model)) + AttentionFlops(model, seq_length);
}

double CausalTrainingFlopsPerToken(const ModelConfig& model, int64_t seq_length) {
  return TrainingFlopsPerToken(model, seq_length) - AttentionFlops(model, seq_length) / 2;
}

}  // namespace trainyard

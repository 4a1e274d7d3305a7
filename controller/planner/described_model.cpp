#include "controller/planner/described_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "proto/contract/model_size.h"

namespace trainyard::planner {
namespace {

// Sums in either number type: first as double to check the range, then exactly.
template <typename Number>
struct Sums {
  Number total = 0;
  Number active = 0;

  void Add(Number weights) { AddExperts(weights, weights); }
  void AddExperts(Number all, Number used) {
    total += all;
    active += used;
  }
};

bool IsPlain(const DescribedModel& model) {
  return model.experts.count == 0 && model.latent.key_rank == 0;
}

template <typename Number>
Number AttentionWeights(const DescribedModel& model) {
  const ModelConfig& dense = model.dense;
  const Number hidden = dense.hidden_size, heads = dense.num_attention_heads;
  const LatentAttention& latent = model.latent;
  if (latent.key_rank == 0) {
    const Number size = HeadSize(dense);
    const Number norms = dense.qk_layernorm ? 2 * size : 0;
    return hidden * size * (2 * heads + 2 * Number(dense.num_query_groups)) + norms;
  }
  const Number query = heads * (latent.head_size + latent.rotary_size);
  const Number from = latent.query_rank > 0 ? Number(latent.query_rank) : hidden;
  const Number down = latent.query_rank > 0 ? hidden * from + from : 0;  // Including its norm.
  const Number rank = latent.key_rank;
  const Number keys = hidden * (rank + latent.rotary_size) + rank +
                      rank * heads * (latent.head_size + latent.value_size);
  return down + from * query + keys + heads * Number(latent.value_size) * hidden;
}

template <typename Number>
Number FeedForwardWeights(const ModelConfig& dense, int64_t width) {
  return Number(HasGate(dense) ? 3 : 2) * Number(dense.hidden_size) * Number(width);
}

template <typename Number>
Sums<Number> SumParts(const DescribedModel& model) {
  const ModelConfig& dense = model.dense;
  const ExpertShape& experts = model.experts;
  const Number layers = dense.num_layers, hidden = dense.hidden_size;
  const int64_t dense_layers =
      experts.count == 0 ? dense.num_layers : std::min(experts.dense_layers, dense.num_layers);
  const Number expert_layers = dense.num_layers - dense_layers;
  const Number norms = NormVectors(dense);
  Sums<Number> sums;
  sums.Add(layers * (AttentionWeights<Number>(model) + 2 * norms * hidden));
  sums.Add(Number(dense_layers) * FeedForwardWeights<Number>(dense, dense.ffn_hidden_size));
  const Number expert = FeedForwardWeights<Number>(dense, ExpertWidth(model));
  sums.AddExperts(expert_layers * Number(experts.count) * expert,
                  expert_layers * Number(experts.topk) * expert);
  sums.Add(expert_layers * FeedForwardWeights<Number>(dense, experts.shared_ffn_hidden_size));
  sums.Add(expert_layers * hidden * Number(experts.count));  // Routers.
  const bool has_table = dense.position_embedding_type == PositionEmbedding::kLearnedAbsolute;
  sums.Add(has_table ? Number(dense.max_position_embeddings) * hidden : Number(0));
  sums.Add((dense.untie_embeddings_and_output_weights ? 2 : 1) * Number(dense.vocab_size) * hidden);
  sums.Add(norms * hidden);
  return sums;
}

}  // namespace

int64_t ExpertWidth(const DescribedModel& model) {
  return model.experts.ffn_hidden_size > 0 ? model.experts.ffn_hidden_size
                                           : model.dense.ffn_hidden_size;
}

std::optional<ParameterSum> CountParameters(const DescribedModel& model) {
  constexpr double kMost = 0.99 * static_cast<double>(std::numeric_limits<int64_t>::max());
  if (SumParts<double>(model).total > kMost) return std::nullopt;
  if (IsPlain(model)) {
    const int64_t count = ParameterCount(model.dense);
    return ParameterSum{count, count};
  }
  const Sums<int64_t> sums = SumParts<int64_t>(model);
  return ParameterSum{sums.total, sums.active};
}

double DescribedFlopsPerToken(const DescribedModel& model, int64_t seq_length) {
  if (IsPlain(model)) return TrainingFlopsPerToken(model.dense, seq_length);
  const ModelConfig& dense = model.dense;
  const double embedding = dense.untie_embeddings_and_output_weights
                               ? static_cast<double>(dense.vocab_size * dense.hidden_size)
                               : 0;
  const bool is_latent = model.latent.key_rank > 0;
  const double head = is_latent
                          ? static_cast<double>(model.latent.head_size + model.latent.rotary_size +
                                                model.latent.value_size) /
                                2
                          : static_cast<double>(HeadSize(dense));
  const double attention = 12 * static_cast<double>(dense.num_layers) *
                           static_cast<double>(dense.num_attention_heads) * head *
                           static_cast<double>(seq_length);
  return 6 * (SumParts<double>(model).active - embedding) + attention;
}

int64_t ExpertWidthFor(const DescribedModel& model, double total) {
  if (model.experts.count == 0) return 0;
  DescribedModel other = model;
  const auto sum = [&other](int64_t width) {
    other.experts.ffn_hidden_size = width;
    if (other.experts.shared_ffn_hidden_size > 0) other.experts.shared_ffn_hidden_size = width;
    return SumParts<double>(other).total;
  };
  const double one = sum(1), two = sum(2);
  const double width = 1 + (total - one) / (two - one);
  return width < 1 ? 0 : std::llround(width);
}

}  // namespace trainyard::planner

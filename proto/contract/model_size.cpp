#include "proto/contract/model_size.h"

#include "proto/contract/run_rules.h"

namespace trainyard {
namespace {

int64_t BlockMatrixParameters(const ModelConfig& model) {
  const int64_t queries = model.num_attention_heads * HeadSize(model);
  const int64_t keys = model.num_query_groups * HeadSize(model);
  return model.hidden_size * (2 * queries + 2 * keys + 3 * model.ffn_hidden_size);
}

}  // namespace

int64_t MatrixParameterCount(const ModelConfig& model) {
  return model.num_layers * BlockMatrixParameters(model) + model.vocab_size * model.hidden_size;
}

int64_t ParameterCount(const ModelConfig& model) {
  const int64_t norms = (2 * model.num_layers + 1) * model.hidden_size;
  const int64_t embedding = model.untie_embeddings_and_output_weights
                                ? model.vocab_size * model.hidden_size
                                : 0;  // Tied: the head's weights are the embedding's.
  return MatrixParameterCount(model) + norms + embedding;
}

double TrainingFlopsPerToken(const ModelConfig& model, int64_t seq_length) {
  const auto attention = static_cast<double>(12 * model.num_layers * model.num_attention_heads *
                                             HeadSize(model) * seq_length);
  return 6.0 * static_cast<double>(MatrixParameterCount(model)) + attention;
}

}  // namespace trainyard

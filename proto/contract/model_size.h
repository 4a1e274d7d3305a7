// Size of a model, and arithmetic for each token: pure functions of the settings.
#ifndef TRAINYARD_PROTO_CONTRACT_MODEL_SIZE_H_
#define TRAINYARD_PROTO_CONTRACT_MODEL_SIZE_H_

#include <cstdint>

#include "proto/contract/run_config.h"

namespace trainyard {

// Vectors of one norm: a weight, and a bias of LayerNorm.
int64_t NormVectors(const ModelConfig& model);

// True where the feed-forward layer has a gate: three matrices, else two.
bool HasGate(const ModelConfig& model);

// Biases of one block's matrices, by their place between tensor-parallel ranks.
struct BlockBiases {
  int64_t cut = 0;    // Queries, gate and up: divided over the ranks.
  int64_t keys = 0;   // Keys and values, for one head of each.
  int64_t whole = 0;  // Output and down projection: on every rank.
};
BlockBiases BlockBiasesOf(const ModelConfig& model);

// All weights and biases; a tied head counts once.
int64_t ParameterCount(const ModelConfig& model);

// Weights that every token is multiplied with: the matrices of the blocks and the head, not the
// embedding's look-up.
int64_t MatrixParameterCount(const ModelConfig& model);

// Weights of the matrices of one block, by their place between tensor-parallel ranks.
struct BlockMatrices {
  int64_t cut = 0;   // Queries, output projection, feed-forward: divided over the ranks.
  int64_t keys = 0;  // Keys and values, for one head of each.
};
BlockMatrices BlockMatricesOf(const ModelConfig& model);

// Floating-point operations of one training token, forward and backward: 6 for each weight of a
// matrix product and 12 * layers * heads * head_size * length for attention over the full length.
// The formula of torchtitan, nanoGPT and PaLM (arXiv 2204.02311, appendix B). With a window
// (model.window_size) the length is the one at which full attention has as many pairs of a query
// and a key in proportion.
double TrainingFlopsPerToken(const ModelConfig& model, int64_t seq_length);

// The same with half of the attention term, as a token attends to those before it only: the formula
// of Megatron-LM's num_floating_point_operations (megatron/training/training.py, since 2025).
double CausalTrainingFlopsPerToken(const ModelConfig& model, int64_t seq_length);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_MODEL_SIZE_H_

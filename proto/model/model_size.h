// Size of a model, and arithmetic per token: pure functions of the settings. Covers mixtures of
// experts and latent attention, which trainyard-trainer cannot train yet.
#ifndef TRAINYARD_PROTO_MODEL_MODEL_SIZE_H_
#define TRAINYARD_PROTO_MODEL_MODEL_SIZE_H_

#include <cstdint>

#include "proto/contract/model_config.h"
#include "proto/model/index_range.h"

namespace trainyard {

// Number of vectors in one norm: a weight and, for LayerNorm, a bias.
int64_t NormVectors(const ModelConfig& model);

// True if the feed-forward layer has a gate: three matrices instead of two.
bool HasGate(const ModelConfig& model);

bool HasExperts(const ModelConfig& model);
bool HasLatentAttention(const ModelConfig& model);

// Width of one expert.
int64_t ExpertWidth(const ModelConfig& model);

// Width of one attention head.
int64_t HeadSize(const ModelConfig& model);
// Width of a head if model.kv_channels is not set: hidden_size / num_attention_heads.
int64_t UsualHeadSize(const ModelConfig& model);
// Number of elements of a head rotated by rotary positions.
int64_t RotarySize(const ModelConfig& model);

// Width of a query head, and the mean width of a query and a value head.
int64_t QueryHeadSize(const ModelConfig& model);
double MeanHeadSize(const ModelConfig& model);

// Number of layers by kind of feed-forward half.
struct LayerKinds {
  int64_t dense = 0;
  int64_t expert = 0;
};
LayerKinds KindsOf(const ModelConfig& model, const IndexRange& layers);

// Kind of a block, by its feed-forward half.
enum class BlockKind { kDense, kExpert };

// Biases of one block's matrices, by their division among tensor-parallel ranks. Blocks with
// experts have none.
struct BlockBiases {
  int64_t cut = 0;    // Queries, gate and up: divided among the ranks.
  int64_t keys = 0;   // Keys and values, per head.
  int64_t whole = 0;  // Output and down projection: on every rank.
};
BlockBiases BlockBiasesOf(const ModelConfig& model);

// True if the number of parameters fits into 63 bits.
bool HasCountableSize(const ModelConfig& model);

// All weights and biases; a tied head counts once. Requires a countable size.
int64_t ParameterCount(const ModelConfig& model);

// The part of ParameterCount that a token uses: of the experts, only those it is routed to.
int64_t ActiveParameterCount(const ModelConfig& model);

// Weights that take part in a matrix product for a token: the matrices of the blocks and the head,
// not the embedding's look-up and not the experts of other tokens.
int64_t MatrixParameterCount(const ModelConfig& model);

// Weights of the matrices of one block, by their division among tensor-parallel ranks. Does not
// include those of the routed experts.
struct BlockMatrices {
  int64_t cut = 0;    // Queries, output projection, feed-forward: divided among the ranks.
  int64_t keys = 0;   // Keys and values, per head; latent attention has none of them.
  int64_t whole = 0;  // Projections to a lower rank, router: on every rank.
};
BlockMatrices BlockMatricesOf(const ModelConfig& model, BlockKind kind);

// Weights of one routed expert.
int64_t ExpertParameterCount(const ModelConfig& model);

// Weights of the norms of one block.
int64_t BlockNormCount(const ModelConfig& model);

// Expert width for which the model would have `total` parameters; 0 if there is none.
int64_t ExpertWidthFor(const ModelConfig& model, double total);

// model.window_size if it hides a token of a sample, else 0.
int64_t EffectiveWindow(const ModelConfig& model, int64_t seq_length);

// Floating-point operations per training token, forward and backward: 6 per weight of a matrix
// product, plus 12 * layers * heads * head_size * length for attention over the full length. This
// is the formula of torchtitan, nanoGPT and PaLM (arXiv 2204.02311, appendix B). With a window
// (model.window_size), `length` is the length at which full attention has the same share of pairs
// of a query and a key.
double TrainingFlopsPerToken(const ModelConfig& model, int64_t seq_length);

// Like TrainingFlopsPerToken with half of the attention term, because a token attends only to
// earlier tokens: the formula of Megatron-LM's num_floating_point_operations
// (megatron/training/training.py, since 2025).
double CausalTrainingFlopsPerToken(const ModelConfig& model, int64_t seq_length);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MODEL_MODEL_SIZE_H_

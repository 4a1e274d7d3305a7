// Computes the size of a model and its arithmetic per token. Pure functions of the settings. Covers
// mixtures of experts and latent attention, although trainyard-trainer cannot train them yet.
#ifndef TRAINYARD_PROTO_MODEL_MODEL_SIZE_H_
#define TRAINYARD_PROTO_MODEL_MODEL_SIZE_H_

#include <cstdint>

#include "proto/contract/model_config.h"
#include "proto/model/index_range.h"

namespace trainyard {

// Returns the number of vectors in one norm: a weight and, for LayerNorm, also a bias.
int64_t NormVectors(const ModelConfig& model);

// True if the feed-forward layer has a gate, and thus three matrices instead of two.
bool HasGate(const ModelConfig& model);

bool HasExperts(const ModelConfig& model);
bool HasLatentAttention(const ModelConfig& model);

// Width of one expert.
int64_t ExpertWidth(const ModelConfig& model);

// Width of one attention head.
int64_t HeadSize(const ModelConfig& model);
// Returns the width of a head that is used if model.kv_channels is not set: hidden_size /
// num_attention_heads.
int64_t UsualHeadSize(const ModelConfig& model);
// Returns the number of elements of a head to which rotary positions are applied.
int64_t RotarySize(const ModelConfig& model);

// QueryHeadSize returns the width of a query head. MeanHeadSize returns the mean of the widths of a
// query head and a value head.
int64_t QueryHeadSize(const ModelConfig& model);
double MeanHeadSize(const ModelConfig& model);

// The number of layers of each kind. Kinds differ in the feed-forward half.
struct LayerKinds {
  int64_t dense = 0;
  int64_t expert = 0;
};
LayerKinds KindsOf(const ModelConfig& model, const IndexRange& layers);

// The kind of a block, which depends on its feed-forward half.
enum class BlockKind { kDense, kExpert };

// The number of biases of one block's matrices, grouped by how tensor-parallel ranks divide them.
// Blocks with experts have none.
struct BlockBiases {
  int64_t cut = 0;    // Queries, gate and up; divided among the ranks.
  int64_t keys = 0;   // Keys and values, per head.
  int64_t whole = 0;  // Output and down projection; on every rank.
};
BlockBiases BlockBiasesOf(const ModelConfig& model);

// True if the number of parameters fits into 63 bits.
bool HasCountableSize(const ModelConfig& model);

// Returns the number of all weights and biases. A tied head counts once. Requires HasCountableSize.
int64_t ParameterCount(const ModelConfig& model);

// Returns the number of parameters that one token uses. Experts count only if the token is routed
// to them.
int64_t ActiveParameterCount(const ModelConfig& model);

// Returns the number of weights that take part in a matrix product for a token. These are the
// matrices of the blocks and the head. The look-up in the embedding does not count, and neither do
// experts that the token is not routed to.
int64_t MatrixParameterCount(const ModelConfig& model);

// The number of weights of one block's matrices, grouped by how tensor-parallel ranks divide them.
// Does not include the routed experts.
struct BlockMatrices {
  int64_t cut = 0;    // Queries, output projection, feed-forward; divided.
  int64_t keys = 0;   // Keys and values, per head; 0 for latent attention.
  int64_t whole = 0;  // Projections to a lower rank, router; on every rank.
};
BlockMatrices BlockMatricesOf(const ModelConfig& model, BlockKind kind);

// Weights of one routed expert.
int64_t ExpertParameterCount(const ModelConfig& model);

// Weights of the norms of one block.
int64_t BlockNormCount(const ModelConfig& model);

// Returns the expert width with which the model would have `total` parameters; 0 if there is none.
int64_t ExpertWidthFor(const ModelConfig& model, double total);

// Returns model.window_size if the window hides any token of a sample from another; otherwise 0.
int64_t EffectiveWindow(const ModelConfig& model, int64_t seq_length);

// Returns the floating-point operations per training token, forward and backward. They are 6 per
// weight of a matrix product, plus 12 * layers * heads * head_size * length for attention over the
// full length. This is the formula of torchtitan, nanoGPT and PaLM (arXiv 2204.02311, appendix B).
// If there is a window (model.window_size), `length` is instead the length at which full attention
// has the same share of pairs of a query and a key.
double TrainingFlopsPerToken(const ModelConfig& model, int64_t seq_length);

// Like TrainingFlopsPerToken, but with half of the attention term, because a token attends only to
// earlier tokens. This is the formula of Megatron-LM's num_floating_point_operations
// (megatron/training/training.py, since 2025).
double CausalTrainingFlopsPerToken(const ModelConfig& model, int64_t seq_length);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MODEL_MODEL_SIZE_H_

// Computes the number of parameters of a model and its FLOPs per token. Pure functions of the
// settings.
#ifndef TRAINYARD_PROTO_MODEL_MODEL_SIZE_H_
#define TRAINYARD_PROTO_MODEL_MODEL_SIZE_H_

#include <cstdint>

#include "proto/contract/model_config.h"
#include "proto/model/index_range.h"

namespace trainyard {

// Returns the number of vectors in one norm: 2 for LayerNorm (weight and bias), otherwise 1.
int64_t NormVectors(const ModelConfig& model);

// True if the feed-forward layer has a gate, and thus three matrices instead of two.
bool HasGate(const ModelConfig& model);

bool HasExperts(const ModelConfig& model);
bool HasSharedExpert(const ModelConfig& model);
bool HasLatentAttention(const ModelConfig& model);

int64_t ExpertWidth(const ModelConfig& model);

// Width of one attention head.
int64_t HeadSize(const ModelConfig& model);
// Returns the width of a head if model.kv_channels is not set: hidden_size / num_attention_heads.
int64_t UsualHeadSize(const ModelConfig& model);
// Returns the number of elements of each head that get rotary position embeddings.
int64_t RotarySize(const ModelConfig& model);

// QueryHeadSize returns the width of a query head. MeanHeadSize returns the mean of the widths of a
// query head and a value head.
int64_t QueryHeadSize(const ModelConfig& model);
double MeanHeadSize(const ModelConfig& model);

// The number of layers of each kind.
struct LayerKinds {
  int64_t dense = 0;
  int64_t expert = 0;
};
LayerKinds KindsOf(const ModelConfig& model, const IndexRange& layers);
bool HasExpertsIn(int64_t layer, const ModelConfig& model);

// Returns the number of layers, including the layers of multi-token prediction. The layers of
// multi-token prediction come last and have the kind of the layer before them.
int64_t LayersWithMtp(const ModelConfig& model);

// True if the first and the last pipeline stage both need the token table: for a tied head, or for
// multi-token prediction.
bool HasTableAtBothEnds(const ModelConfig& model);

// The kind of a block, which depends on its feed-forward half.
enum class BlockKind { kDense, kExpert };

// The number of biases of one block's matrices, grouped by their division among tensor-parallel
// ranks. Blocks with experts have at most those of queries, keys and values.
struct BlockBiases {
  int64_t cut = 0;    // Queries, gate and up; divided among the ranks.
  int64_t keys = 0;   // Keys and values, per head.
  int64_t whole = 0;  // Output and down projection; on every rank.
};
BlockBiases BlockBiasesOf(const ModelConfig& model);

// True if the projections of queries, keys and values have biases.
bool HasQkvBias(const ModelConfig& model);

// True if the number of parameters fits into 63 bits.
bool HasCountableSize(const ModelConfig& model);

// Returns the number of all weights and biases. A head that is tied to the embedding does not count
// again. Requires HasCountableSize.
int64_t ParameterCount(const ModelConfig& model);

// Returns the number of parameters that one token uses. Excludes the experts to which the token is
// not routed.
int64_t ActiveParameterCount(const ModelConfig& model);

// Returns the number of weights that a token is multiplied with in matrix products: the matrices of
// the blocks and the head. Excludes the embedding, which is a look-up, and the experts to which the
// token is not routed.
int64_t MatrixParameterCount(const ModelConfig& model);

// The number of weights in one block's matrices, grouped by their division among tensor-parallel
// ranks. Excludes the routed experts.
struct BlockMatrices {
  int64_t cut = 0;    // Queries, output projection, feed-forward; divided.
  int64_t keys = 0;   // Keys and values, per head; 0 for latent attention.
  int64_t whole = 0;  // Down-projections, router; on every rank.
};
BlockMatrices BlockMatricesOf(const ModelConfig& model, BlockKind kind);

// The number of weights of one routed expert.
int64_t ExpertParameterCount(const ModelConfig& model);

// The number of weights of the projection from embedding and hidden state in one module of
// multi-token prediction.
int64_t MtpProjectionCount(const ModelConfig& model);

// The number of weights of the norms of one block.
int64_t BlockNormCount(const ModelConfig& model);

// Returns the expert width at which the model has `total` parameters; 0 if there is none.
int64_t ExpertWidthFor(const ModelConfig& model, double total);

// Returns model.window_size if the window hides at least one earlier token of a sample; otherwise
// 0.
int64_t EffectiveWindow(const ModelConfig& model, int64_t seq_length);

// Returns the floating-point operations per training token, forward and backward. The number is 6
// per weight of a matrix product, plus 12 * layers * heads * head_size * length for attention over
// the full length. This is the formula of torchtitan, nanoGPT and PaLM (arXiv 2204.02311, appendix
// B). With a window (model.window_size), `length` is the length at which full attention computes
// equally many pairs of query and key.
double TrainingFlopsPerToken(const ModelConfig& model, int64_t seq_length);

// Like TrainingFlopsPerToken, but with half of the attention term, because a token attends only to
// earlier tokens. This is the formula of Megatron-LM's num_floating_point_operations
// (megatron/training/training.py, since 2025).
double CausalTrainingFlopsPerToken(const ModelConfig& model, int64_t seq_length);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MODEL_MODEL_SIZE_H_

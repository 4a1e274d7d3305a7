// Limits the keys that an attention query sees. Without limits, a query sees all keys up to its own
// position.
#ifndef TRAINYARD_TRAINER_OPS_TENSORS_VISIBLE_KEYS_H_
#define TRAINYARD_TRAINER_OPS_TENSORS_VISIBLE_KEYS_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// A query at position p of a sample sees the keys at positions max(start of its document, p -
// window + 1) to p.
struct AttentionLimits {
  int64_t window = 0;  // Positions seen, including the query's own; 0: all (arXiv 2310.06825).
  // int64 [batch, queries]: the position in the sample of the first token of each query's document.
  // If undefined, each sample is one document.
  torch::Tensor document_starts = {};
  // The result of DocumentBias. Used only by cuDNN, instead of document_starts. May be undefined.
  torch::Tensor document_bias = {};

  bool any() const { return window > 0 || document_starts.defined(); }
};

// Returns a bool tensor [batch, queries, keys], true where the query does not see the key. Without
// documents, `batch` is 1. Positions are within the sample, int64 [queries] and [keys], on the same
// device.
torch::Tensor HiddenKeys(const torch::Tensor& query_positions, const torch::Tensor& key_positions,
                         const AttentionLimits& limits);

// Returns HiddenKeys for queries and keys at positions 0, 1, ..., length - 1.
torch::Tensor HiddenKeys(int64_t length, const AttentionLimits& limits, torch::Device device);

// Returns the bias to add to scores, bf16 [batch, length, length]: a large negative number for keys
// before the query's document, else 0. document_starts: int64 [batch, length]. The bias takes 2
// bytes for each pair of positions, so it is computed only once per micro-batch.
torch::Tensor DocumentBias(const torch::Tensor& document_starts);

// Sets the scores of hidden keys to a number whose exponential is 0 relative to the exponential of
// any visible key. The number is finite, so that a row without visible keys contains no NaN.
// MergeAttention gives such a row no weight. scores: from stacked heads (grouped_heads.h), [batch *
// key_heads, queries of a group, keys], contiguous. hidden: from HiddenKeys.
void HideScores(const torch::Tensor& hidden, torch::Tensor& scores);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TENSORS_VISIBLE_KEYS_H_

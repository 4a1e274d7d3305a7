// Keys visible to an attention query when it does not see all keys up to its own position.
#ifndef TRAINYARD_TRAINER_OPS_VISIBLE_KEYS_H_
#define TRAINYARD_TRAINER_OPS_VISIBLE_KEYS_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// A query at position p of a sample sees the keys at positions max(start of its document, p -
// window + 1) to p.
struct AttentionLimits {
  int64_t window = 0;  // Positions a query sees, including its own; 0: all (arXiv 2310.06825).
  // int64 [batch, queries]: position of the first token of each query's document. Undefined: 0.
  torch::Tensor document_starts = {};
  // DocumentBias of the documents, for cuDNN, which does not read document_starts; may be
  // undefined.
  torch::Tensor document_bias = {};

  bool any() const { return window > 0 || document_starts.defined(); }
};

// True where the query does not see the key, bool [batch, queries, keys]; batch is 1 without
// documents. Positions within the sample: int64 [queries] and [keys], on one device.
torch::Tensor HiddenKeys(const torch::Tensor& query_positions, const torch::Tensor& key_positions,
                         const AttentionLimits& limits);

// Variant for queries and keys at positions 0, 1, ..., length - 1.
torch::Tensor HiddenKeys(int64_t length, const AttentionLimits& limits, torch::Device device);

// Bias added to scores, bf16 [batch, length, length]: a large negative number for keys before the
// query's document, else 0. Takes 2 bytes per pair of positions of a sample, so it is computed once
// per micro-batch. document_starts: int64 [batch, length].
torch::Tensor DocumentBias(const torch::Tensor& document_starts);

// Sets the scores of hidden keys to a value whose exponential is 0 relative to any visible key. It
// is finite, so a row without visible keys has no NaN; MergeAttention gives that row no weight.
// scores: of stacked heads (grouped_heads.h), [batch * key_heads, queries of a group, keys],
// contiguous. hidden: from HiddenKeys.
void HideScores(const torch::Tensor& hidden, torch::Tensor& scores);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_VISIBLE_KEYS_H_

// Keys that a query of attention sees, where these are not all keys up to its own position.
#ifndef TRAINYARD_TRAINER_OPS_VISIBLE_KEYS_H_
#define TRAINYARD_TRAINER_OPS_VISIBLE_KEYS_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// A query at position p of a sample sees the keys at the positions from max(start of its document,
// p - window + 1) to p.
struct AttentionLimits {
  int64_t window = 0;  // Positions that a query sees, its own included; 0: all (arXiv 2310.06825).
  // int64 [batch, queries]: position of the first token of each query's document; undefined: 0.
  torch::Tensor document_starts = {};
  // For cuDNN, which does not read document_starts: as DocumentBias returns it; or undefined.
  torch::Tensor document_bias = {};

  bool any() const { return window > 0 || document_starts.defined(); }
};

// True where the query does not see the key, bool [batch, queries, keys]; batch is 1 without
// documents. Positions in the sample: int64 [queries] and [keys], on one device.
torch::Tensor HiddenKeys(const torch::Tensor& query_positions, const torch::Tensor& key_positions,
                         const AttentionLimits& limits);

// The same for queries and keys at the positions 0, 1, ..., length - 1.
torch::Tensor HiddenKeys(int64_t length, const AttentionLimits& limits, torch::Device device);

// Added to scores: 0 for keys of the query's document and for later ones, a large negative number
// for keys before it. bf16 [batch, length, length]. Takes 2 bytes for each pair of positions of a
// sample, so it is made once for a micro-batch. document_starts: int64 [batch, length].
torch::Tensor DocumentBias(const torch::Tensor& document_starts);

// Gives the scores of hidden keys a value whose exponential is 0 beside any seen key's. It is
// finite, so that a row without a seen key has no NaN: MergeAttention gives that row no weight.
// scores: of stacked heads (grouped_heads.h), [batch * key_heads, queries of a group,
// keys], contiguous. hidden: as HiddenKeys returns it.
void HideScores(const torch::Tensor& hidden, torch::Tensor& scores);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_VISIBLE_KEYS_H_

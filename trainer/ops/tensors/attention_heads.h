// Layout of the heads in a row of packed queries, keys and values.
#ifndef TRAINYARD_TRAINER_OPS_TENSORS_ATTENTION_HEADS_H_
#define TRAINYARD_TRAINER_OPS_TENSORS_ATTENTION_HEADS_H_

#include <cstdint>

namespace trainyard::trainer {

// A packed tensor is contiguous, [batch, length, query_heads + 2 * key_heads, head_size]: query
// heads first, then key heads, then value heads. Consecutive query heads share a key head (grouped
// queries, Ainslie et al. 2023, arXiv 2305.13245).
struct AttentionHeads {
  int64_t query_heads = 0;  // A multiple of key_heads.
  int64_t key_heads = 0;
  int64_t head_size = 0;

  int64_t packed_heads() const { return query_heads + 2 * key_heads; }
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TENSORS_ATTENTION_HEADS_H_

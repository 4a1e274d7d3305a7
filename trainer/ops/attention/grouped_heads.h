// Arranges attention heads as matrices for batched products. The queries of all heads that share a
// key head are stacked into one tall matrix, so that keys and values need not be repeated for each
// query head.
#ifndef TRAINYARD_TRAINER_OPS_ATTENTION_GROUPED_HEADS_H_
#define TRAINYARD_TRAINER_OPS_ATTENTION_GROUPED_HEADS_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// rows: [batch, length, heads, head_size], with any strides. Returns [batch * key_heads, heads /
// key_heads * length, head_size].
torch::Tensor StackHeads(const torch::Tensor& rows, int64_t key_heads);

// Returns StackHeads(rows, key_heads) in the compute type.
torch::Tensor WideStack(const torch::Tensor& rows, int64_t key_heads);

// The inverse of StackHeads. Writes every element of `rows`.
void UnstackHeads(const torch::Tensor& stacked, const torch::Tensor& rows);

// Returns 1 / sqrt(head_size), by which attention scores are multiplied.
double ScoreScale(int64_t head_size);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ATTENTION_GROUPED_HEADS_H_

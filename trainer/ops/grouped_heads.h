// Attention heads as matrices for batched products. The queries of all heads that share a key head
// are stacked into one tall matrix, which avoids repeating keys and values.
#ifndef TRAINYARD_TRAINER_OPS_GROUPED_HEADS_H_
#define TRAINYARD_TRAINER_OPS_GROUPED_HEADS_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// rows: [batch, length, heads, head_size], with any strides. Returns [batch * key_heads, heads /
// key_heads * length, head_size].
torch::Tensor StackHeads(const torch::Tensor& rows, int64_t key_heads);

// StackHeads in the compute type.
torch::Tensor WideStack(const torch::Tensor& rows, int64_t key_heads);

// Inverse of StackHeads: writes every element of rows.
void UnstackHeads(const torch::Tensor& stacked, const torch::Tensor& rows);

// 1 / sqrt(head_size), the scale of attention scores.
double ScoreScale(int64_t head_size);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_GROUPED_HEADS_H_

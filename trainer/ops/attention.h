// Causal self-attention with grouped queries.
#ifndef TRAINYARD_TRAINER_OPS_ATTENTION_H_
#define TRAINYARD_TRAINER_OPS_ATTENTION_H_

#include <torch/types.h>

namespace trainyard::trainer {

// softmax(q k^T / sqrt(head_size)) v where position t sees positions 0..t.
// query: [batch, heads, length, head_size]; key and value: [batch, groups, length, head_size];
// heads is a multiple of groups, and query heads that follow each other share a group.
// Returns [batch, heads, length, head_size]. Takes LibTorch's fused kernels on GPUs.
torch::Tensor CausalAttention(const torch::Tensor& query, const torch::Tensor& key,
                              const torch::Tensor& value);

// The same by two matrix products and a softmax: the reference, and the CPU path.
torch::Tensor PlainCausalAttention(const torch::Tensor& query, const torch::Tensor& key,
                                   const torch::Tensor& value);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ATTENTION_H_

// Causal self-attention with grouped queries.
#ifndef TRAINYARD_TRAINER_OPS_ATTENTION_H_
#define TRAINYARD_TRAINER_OPS_ATTENTION_H_

#include <torch/types.h>

#include "trainer/ops/attention_heads.h"

namespace trainyard::trainer {

// out = softmax(q k^T / sqrt(head_size)) v where position t sees positions 0..t.
// packed: rows of rotated queries and keys, and values (attention_heads.h); out: [batch, length,
// query_heads, head_size]. Returns what the backward pass needs besides these two: the weights of
// the softmax, or the logarithms of its sums where cuDNN computes it (bf16 on a GPU).
torch::Tensor AttentionForward(const torch::Tensor& packed, const AttentionHeads& heads,
                               torch::Tensor& out);

// Of the forward pass.
struct AttentionKept {
  const torch::Tensor& packed;
  const torch::Tensor& out;
  const torch::Tensor& softmax;  // The result of AttentionForward.
};

// A gradient that has the same bits in every run, or may not. Only cuDNN's can differ: with kNo
// it adds in the order in which its blocks happen to finish, and needs less memory.
enum class Reproducible { kYes, kNo };

// Writes every element of d_packed, the gradient of packed.
void AttentionBackward(const torch::Tensor& dout, const AttentionKept& kept,
                       const AttentionHeads& heads, Reproducible reproducible,
                       torch::Tensor& d_packed);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ATTENTION_H_

// Causal self-attention with grouped queries.
#ifndef TRAINYARD_TRAINER_OPS_ATTENTION_ATTENTION_H_
#define TRAINYARD_TRAINER_OPS_ATTENTION_ATTENTION_H_

#include <torch/types.h>

#include "trainer/ops/tensors/attention_form.h"
#include "trainer/ops/tensors/attention_heads.h"

namespace trainyard::trainer {

// out = softmax(q k^T / sqrt(head_size)) v. Position t sees positions 0..t, restricted by the
// limits. packed: rows of rotated queries, rotated keys and values (attention_heads.h). out:
// [batch, length, query_heads, head_size]. Returns the tensor that the backward pass needs in
// addition to `packed` and `out`: the softmax weights in the compute type or, from a fused kernel,
// the logarithms of the softmax sums.
torch::Tensor AttentionForward(const torch::Tensor& packed, const AttentionHeads& heads,
                               torch::Tensor& out, const AttentionForm& form = {});

// Writes every element of d_packed, the gradient of `packed`.
void AttentionBackward(const torch::Tensor& dout, const AttentionKept& kept,
                       const AttentionHeads& heads, Reproducible reproducible,
                       torch::Tensor& d_packed);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ATTENTION_ATTENTION_H_

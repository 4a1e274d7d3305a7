// Attention over a part of the keys, for sequences that are split over several devices.
// MergeAttention combines the outputs of the parts into the attention over all keys. The gradients
// of the parts are added.
#ifndef TRAINYARD_TRAINER_OPS_ATTENTION_ATTENTION_PART_H_
#define TRAINYARD_TRAINER_OPS_ATTENTION_ATTENTION_PART_H_

#include <torch/types.h>

#include "trainer/ops/tensors/attention_part_tensors.h"

namespace trainyard::trainer {

// out = softmax(scale * q k^T) v over the part's keys only, rounded to the type of the query. `out`
// has the shape of `query`, with heads of the size of a value head. Returns the logarithms of the
// sums of exponentials, in the compute type, contiguous [batch, query_heads, query_length].
//
// If a query sees none of the part's keys, the query's logarithm is below -1e29 and its output is
// finite but meaningless. MergeAttention gives this output no weight.
torch::Tensor AttentionPartForward(const AttentionPart& part, torch::Tensor& out);

// Computes the part's share of the gradients. Writes every element of these gradients.
void AttentionPartBackward(const AttentionPart& part, const WholeAttention& whole,
                           Reproducible reproducible, const AttentionPartGradients& gradients);

// Merges a part into out_sum and log_sum_exp, the attention over the keys of the earlier parts.
// out_sum is in the compute type, with strides like those of a part. log_sum_exp is [batch,
// query_heads, query_length] in the compute type, with no gaps in its last dimension. Before the
// first merge, the caller must set out_sum to 0 and log_sum_exp to -infinity. The part must have at
// least one key.
void MergeAttention(torch::Tensor& out_sum, torch::Tensor& log_sum_exp,
                    const torch::Tensor& part_out, const torch::Tensor& part_log_sum_exp);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ATTENTION_ATTENTION_PART_H_

// Attention over part of the keys, for sequences split over several devices. The parts' outputs are
// merged into the attention over all keys, and their gradients are added.
#ifndef TRAINYARD_TRAINER_OPS_ATTENTION_PART_H_
#define TRAINYARD_TRAINER_OPS_ATTENTION_PART_H_

#include <torch/types.h>

#include "trainer/ops/attention_part_tensors.h"

namespace trainyard::trainer {

// out = softmax(q k^T / sqrt(head_size)) v over the part's keys only, rounded to the type of the
// query. out: like query. Returns the logarithms of the sums of exponentials, in the compute type,
// contiguous [batch, query_heads, query_length]. A query that sees none of the keys has a logarithm
// below -1e29 and a meaningless finite output; MergeAttention gives it no weight.
torch::Tensor AttentionPartForward(const AttentionPart& part, torch::Tensor& out);

// Writes every element of the gradients due to the part's keys.
void AttentionPartBackward(const AttentionPart& part, const WholeAttention& whole,
                           Reproducible reproducible, const AttentionPartGradients& gradients);

// Merges a part with other keys into out_sum and log_sum_exp. out_sum: in the compute type, with
// strides like those of a part. log_sum_exp: in the compute type, [batch, query_heads,
// query_length], no gaps in its last dimension. A sum over no keys has zeros in out_sum and
// -infinity in log_sum_exp. The part must have keys.
void MergeAttention(torch::Tensor& out_sum, torch::Tensor& log_sum_exp,
                    const torch::Tensor& part_out, const torch::Tensor& part_log_sum_exp);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ATTENTION_PART_H_

// Attention over a part of the keys, for sequences that several devices share: the parts' outputs
// are merged into those over all keys, and their gradients added up.
#ifndef TRAINYARD_TRAINER_OPS_ATTENTION_PART_H_
#define TRAINYARD_TRAINER_OPS_ATTENTION_PART_H_

#include <torch/types.h>

#include "trainer/ops/attention.h"

namespace trainyard::trainer {

// The keys that a query sees.
enum class AttentionMask {
  kCausal,  // Query i sees keys 0..i, of as many keys as queries.
  kNone,    // All keys.
};

// Tensors here are [batch, length, heads, head_size] unless they say otherwise, of one type. They
// may be views with any batch and token stride, such as columns of packed rows and halves of
// sequences; heads and elements are without gaps. Queries with more keys before them are two parts:
// kNone over the earlier keys, and kCausal over as many keys as there are queries. A part with
// hidden keys takes the plain version on every device.
struct AttentionPart {
  torch::Tensor query;  // Of query heads, a multiple of key heads (attention_heads.h).
  torch::Tensor key;    // Of key heads.
  torch::Tensor value;  // Like key.
  AttentionMask mask = AttentionMask::kCausal;
  torch::Tensor hidden = {};  // In place of the mask, as HiddenKeys returns it; or undefined.
  AttentionKernel kernel = AttentionKernel::kAuto;  // Or kCudnn or kManual.
};

// out = softmax(q k^T / sqrt(head_size)) v over the keys of the part alone, rounded to the type of
// the query. out: like query. Returns the logarithms of the sums of exponentials, in the compute
// type, contiguous [batch, query_heads, query_length]. A query that sees none of the keys has a
// logarithm of less than -1e29 and a meaningless finite output, to which MergeAttention gives no
// weight.
torch::Tensor AttentionPartForward(const AttentionPart& part, torch::Tensor& out);

// Of the softmax over the keys of all parts, for the queries of one part.
struct WholeAttention {
  torch::Tensor dout;         // Like query.
  torch::Tensor out;          // Like query.
  torch::Tensor log_sum_exp;  // In the compute type, [batch, query_heads, query_length].
};

// Like the inputs of a part, in their type. The caller adds up those of the parts, in the compute
// type.
struct AttentionPartGradients {
  torch::Tensor query;
  torch::Tensor key;
  torch::Tensor value;
};

// Writes every element of the gradients that come from the keys of the part.
void AttentionPartBackward(const AttentionPart& part, const WholeAttention& whole,
                           Reproducible reproducible, const AttentionPartGradients& gradients);

// Adds a part of other keys: out_sum and log_sum_exp become those over the keys of both. out_sum:
// in the compute type, with strides like those of a part; log_sum_exp: in the compute type, [batch,
// query_heads, query_length], its last dimension without gaps. A sum over no keys has zeros in
// out_sum and -infinity in log_sum_exp; the part has keys.
void MergeAttention(torch::Tensor& out_sum, torch::Tensor& log_sum_exp,
                    const torch::Tensor& part_out, const torch::Tensor& part_log_sum_exp);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ATTENTION_PART_H_

// Tensors for attention over some of the keys.
#ifndef TRAINYARD_TRAINER_OPS_TENSORS_ATTENTION_PART_TENSORS_H_
#define TRAINYARD_TRAINER_OPS_TENSORS_ATTENTION_PART_TENSORS_H_

#include <torch/types.h>

#include "trainer/ops/tensors/attention_form.h"

namespace trainyard::trainer {

// The keys that a query sees.
enum class AttentionMask {
  kCausal,  // Query i sees keys 0..i; needs as many keys as queries.
  kNone,    // All keys.
};

// The tensors have the shape [batch, length, heads, head_size] unless stated otherwise, and all
// have the same type. The strides of batch and token are arbitrary, so a tensor can be columns of
// packed rows or half of a sequence. The elements of a head have no gaps. Gaps between heads are
// allowed only for values. Queries that also see earlier keys need two parts: kNone over the
// earlier keys, and kCausal over as many keys as queries. If `hidden` is defined, the part is
// computed without fused kernels on every device.
struct AttentionPart {
  torch::Tensor query;  // Has query_heads heads, a multiple of key_heads (attention_heads.h).
  torch::Tensor key;    // key_heads heads.
  torch::Tensor value;  // key_heads heads, which may have another size.
  AttentionMask mask = AttentionMask::kCausal;
  torch::Tensor hidden = {};                        // From HiddenKeys; if defined, replaces `mask`.
  AttentionKernel kernel = AttentionKernel::kAuto;  // kAuto, kCudnn or kManual.
  double scale = 0;  // Factor of the scores; 0: 1 / sqrt(head size of the queries).
};

// The result of the attention over all parts, for the queries of one part.
struct WholeAttention {
  torch::Tensor dout;         // Like out.
  torch::Tensor out;          // Has query_heads heads of the size of a value head.
  torch::Tensor log_sum_exp;  // In the compute type, [batch, query_heads, query_length].
};

// The gradients of one part, with the shapes and type of the part's inputs. The caller adds the
// gradients of all parts in the compute type.
struct AttentionPartGradients {
  torch::Tensor query;
  torch::Tensor key;
  torch::Tensor value;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TENSORS_ATTENTION_PART_TENSORS_H_

// Tensors of attention over part of the keys.
#ifndef TRAINYARD_TRAINER_OPS_ATTENTION_PART_TENSORS_H_
#define TRAINYARD_TRAINER_OPS_ATTENTION_PART_TENSORS_H_

#include <torch/types.h>

#include "trainer/ops/attention_form.h"

namespace trainyard::trainer {

// The keys visible to a query.
enum class AttentionMask {
  kCausal,  // Query i sees keys 0..i; needs as many keys as queries.
  kNone,    // All keys.
};

// Tensors here are [batch, length, heads, head_size] unless stated otherwise, of one type. Batch
// and token strides are arbitrary, as in columns of packed rows or halves of sequences; heads and
// elements have no gaps. Queries with earlier keys need two parts: kNone over the earlier keys, and
// kCausal over as many keys as queries. A part with hidden keys uses the plain version on every
// device.
struct AttentionPart {
  torch::Tensor query;  // query_heads heads, a multiple of key_heads (attention_heads.h).
  torch::Tensor key;    // key_heads heads.
  torch::Tensor value;  // Like key.
  AttentionMask mask = AttentionMask::kCausal;
  torch::Tensor hidden = {};  // Replaces the mask; from HiddenKeys. May be undefined.
  AttentionKernel kernel = AttentionKernel::kAuto;  // kAuto, kCudnn or kManual.
};

// Softmax over the keys of all parts, for the queries of one part.
struct WholeAttention {
  torch::Tensor dout;         // Like query.
  torch::Tensor out;          // Like query.
  torch::Tensor log_sum_exp;  // In the compute type, [batch, query_heads, query_length].
};

// Gradients with the shapes and type of a part's inputs. The caller adds those of all parts in the
// compute type.
struct AttentionPartGradients {
  torch::Tensor query;
  torch::Tensor key;
  torch::Tensor value;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ATTENTION_PART_TENSORS_H_

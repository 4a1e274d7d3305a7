// Tensors of attention whose tokens are divided among context-parallel ranks.
#ifndef TRAINYARD_TRAINER_MODEL_ATTENTION_CONTEXT_ATTENTION_TENSORS_H_
#define TRAINYARD_TRAINER_MODEL_ATTENTION_CONTEXT_ATTENTION_TENSORS_H_

#include <torch/types.h>

#include "trainer/ops/tensors/attention_form.h"

namespace trainyard::trainer {

// Views of the queries, keys and values of this rank's tokens of each sample (ContextParallel),
// [batch, length, heads, head size]. Values may have a different head size than queries and keys.
struct AttentionInputs {
  torch::Tensor query;
  torch::Tensor key;
  torch::Tensor value;
  double scale = 0;  // Factor of the scores; 0: 1 / sqrt(head size of the queries).
};

// The heads and the outputs of this rank's heads for whole samples, if ranks exchange tokens for
// heads. Both are flat: piece after piece (head_exchange.h). Undefined otherwise.
struct WholeSamples {
  torch::Tensor heads;
  torch::Tensor out;
};

struct ContextAttentionResult {
  // The logarithm of the softmax sum over all keys for each query, in the compute type. [batch,
  // query heads, length]: with WholeSamples, of this rank's heads and all tokens; otherwise of all
  // heads and this rank's tokens.
  torch::Tensor log_sum_exp;
  WholeSamples whole;
};

// Tensors of ContextAttentionForward. If `whole` has been dropped, the backward pass exchanges
// `inputs` and `out` again. If `whole` is defined, only the shapes of `inputs` are used.
struct ContextAttentionKept {
  const AttentionInputs& inputs;
  const torch::Tensor& out;
  const torch::Tensor& log_sum_exp;
  AttentionForm form = {};
  WholeSamples whole = {};
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_ATTENTION_CONTEXT_ATTENTION_TENSORS_H_

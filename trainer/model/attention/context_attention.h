// Causal attention when the tokens of each sample are divided among context-parallel ranks.
#ifndef TRAINYARD_TRAINER_MODEL_ATTENTION_CONTEXT_ATTENTION_H_
#define TRAINYARD_TRAINER_MODEL_ATTENTION_CONTEXT_ATTENTION_H_

#include <torch/types.h>

#include "trainer/model/parallel/context_parallel.h"
#include "trainer/ops/attention/attention_part.h"

namespace trainyard::trainer {

// Views of the queries, keys and values of this rank's tokens of each sample (ContextParallel),
// [batch, length, heads, head size]. Values may have a different head size than queries and keys.
struct AttentionInputs {
  torch::Tensor query;
  torch::Tensor key;
  torch::Tensor value;
  double scale = 0;  // Factor of the scores; 0: 1 / sqrt(head size of the queries).
};

// Tensors of ContextAttentionForward.
struct ContextAttentionKept {
  const AttentionInputs& inputs;
  const torch::Tensor& out;
  const torch::Tensor& log_sum_exp;  // Returned by ContextAttentionForward.
  AttentionForm form = {};
};

// Causal attention of this rank's queries to the keys of all ranks. Keys that are outside every
// query's window are transferred but take no part in the computation. Does not support kFlash and
// kSdpa. out: [batch, length, query heads, value head size]. Returns the logarithm of the softmax
// sum over all keys for each query, [batch, query heads, length] in the compute type. With one
// rank, the attention is a single part (ops/attention_part.h).
torch::Tensor ContextAttentionForward(const AttentionInputs& inputs, const ContextParallel& context,
                                      const AttentionForm& form, torch::Tensor& out);

// Writes every element of the gradients. The gradients of this rank's keys and values include the
// contributions of all ranks' queries.
void ContextAttentionBackward(const torch::Tensor& dout, const ContextAttentionKept& kept,
                              Reproducible reproducible, const ContextParallel& context,
                              const AttentionPartGradients& gradients);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_ATTENTION_CONTEXT_ATTENTION_H_

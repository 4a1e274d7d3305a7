// Causal attention when the tokens of each sample are divided among context-parallel ranks.
#ifndef TRAINYARD_TRAINER_MODEL_ATTENTION_CONTEXT_ATTENTION_H_
#define TRAINYARD_TRAINER_MODEL_ATTENTION_CONTEXT_ATTENTION_H_

#include <torch/types.h>

#include "trainer/model/attention/context_attention_tensors.h"
#include "trainer/model/parallel/context_parallel.h"
#include "trainer/ops/attention/attention_part.h"

namespace trainyard::trainer {

// Causal attention of this rank's queries to the keys of all ranks. Keys that are outside every
// query's window are transferred but take no part in the computation. Does not support kFlash and
// kSdpa. out: [batch, length, query heads, value head size]. With one rank, the attention is a
// single part (ops/attention_part.h).
ContextAttentionResult ContextAttentionForward(const AttentionInputs& inputs,
                                               const ContextParallel& context,
                                               const AttentionForm& form, torch::Tensor& out);

// Writes every element of the gradients. The gradients of this rank's keys and values include the
// contributions of all ranks' queries.
void ContextAttentionBackward(const torch::Tensor& dout, const ContextAttentionKept& kept,
                              Reproducible reproducible, const ContextParallel& context,
                              const AttentionPartGradients& gradients);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_ATTENTION_CONTEXT_ATTENTION_H_

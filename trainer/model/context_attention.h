// Causal attention when the tokens of each sample are divided among context-parallel ranks.
#ifndef TRAINYARD_TRAINER_MODEL_CONTEXT_ATTENTION_H_
#define TRAINYARD_TRAINER_MODEL_CONTEXT_ATTENTION_H_

#include <torch/types.h>

#include "trainer/model/context_parallel.h"
#include "trainer/ops/attention.h"
#include "trainer/ops/attention_heads.h"

namespace trainyard::trainer {

// Like AttentionForward (ops/attention.h), except that the queries are this rank's tokens of each
// sample (ContextParallel) and the keys are the tokens of all ranks. Keys that are outside every
// query's window are transferred but take no part in the computation. Does not support kFlash and
// kSdpa. Returns the logarithm of the softmax sum over all keys for each query, [batch,
// query_heads, length] in the compute type.
torch::Tensor ContextAttentionForward(const torch::Tensor& packed, const AttentionHeads& heads,
                                      const ContextParallel& context, const AttentionForm& form,
                                      torch::Tensor& out);

// Writes d_packed. The gradients of this rank's keys and values include the contributions of all
// ranks' queries.
void ContextAttentionBackward(const torch::Tensor& dout, const AttentionKept& kept,
                              const AttentionHeads& heads, Reproducible reproducible,
                              const ContextParallel& context, torch::Tensor& d_packed);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_CONTEXT_ATTENTION_H_

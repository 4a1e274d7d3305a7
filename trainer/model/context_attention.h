// Causal attention with each sample's tokens split over context-parallel ranks.
#ifndef TRAINYARD_TRAINER_MODEL_CONTEXT_ATTENTION_H_
#define TRAINYARD_TRAINER_MODEL_CONTEXT_ATTENTION_H_

#include <torch/types.h>

#include "trainer/model/context_parallel.h"
#include "trainer/ops/attention.h"
#include "trainer/ops/attention_heads.h"

namespace trainyard::trainer {

// Like AttentionForward (ops/attention.h), with this rank's tokens of each sample (ContextParallel)
// as queries and the tokens of all ranks as keys. Skips the computation, but not the transfer, of
// keys outside the window of all queries. kFlash and kSdpa are not supported. Returns the
// logarithms of the softmax sums over all keys, [batch, query_heads, length] in the compute type.
torch::Tensor ContextAttentionForward(const torch::Tensor& packed, const AttentionHeads& heads,
                                      const ContextParallel& context, const AttentionForm& form,
                                      torch::Tensor& out);

// Writes d_packed, including the gradients of this rank's keys and values from the queries of all
// ranks.
void ContextAttentionBackward(const torch::Tensor& dout, const AttentionKept& kept,
                              const AttentionHeads& heads, Reproducible reproducible,
                              const ContextParallel& context, torch::Tensor& d_packed);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_CONTEXT_ATTENTION_H_

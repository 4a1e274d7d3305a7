// Causal attention where context-parallel ranks have a part of each sample's tokens.
#ifndef TRAINYARD_TRAINER_MODEL_CONTEXT_ATTENTION_H_
#define TRAINYARD_TRAINER_MODEL_CONTEXT_ATTENTION_H_

#include <torch/types.h>

#include "trainer/model/context_parallel.h"
#include "trainer/ops/attention.h"
#include "trainer/ops/attention_heads.h"

namespace trainyard::trainer {

// As AttentionForward (ops/attention.h), with the tokens that this rank has of each sample
// (ContextParallel) as queries, and those of all ranks as keys. Parts of the keys that lie before
// the window of all queries are not computed; they travel nevertheless. kFlash and kSdpa have no
// parts. Returns the logarithms of the
// softmax's sums over all keys, [batch, query_heads, length] in the compute type.
torch::Tensor ContextAttentionForward(const torch::Tensor& packed, const AttentionHeads& heads,
                                      const ContextParallel& context, const AttentionForm& form,
                                      torch::Tensor& out);

// Writes d_packed, with the gradients that the queries of all ranks give to this rank's keys and
// values.
void ContextAttentionBackward(const torch::Tensor& dout, const AttentionKept& kept,
                              const AttentionHeads& heads, Reproducible reproducible,
                              const ContextParallel& context, torch::Tensor& d_packed);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_CONTEXT_ATTENTION_H_

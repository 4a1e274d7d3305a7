// Cross-entropy loss, which replaces the logits with their gradient.
#ifndef TRAINYARD_TRAINER_OPS_LOSS_CROSS_ENTROPY_H_
#define TRAINYARD_TRAINER_OPS_LOSS_CROSS_ENTROPY_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/ops/tensors/loss_targets.h"

namespace trainyard::trainer {

// Adds the sum of w * -log softmax(logits)[target] over the rows to `loss`, an fp64 scalar. Then
// replaces each row of logits [rows, vocabulary] with the gradient w * (softmax - onehot), computed
// in the compute type and rounded once. With kLossOnly, the logits do not change.
void CrossEntropy(torch::Tensor& logits, const Targets& targets, LossPass pass,
                  torch::Tensor& loss);

// The number of rows per chunk. On a CPU, the logits of a chunk fit into the cache. On a GPU, a
// chunk is large enough to keep the GPU busy.
int64_t CrossEntropyRowsPerChunk(int64_t vocabulary, torch::Device device);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_LOSS_CROSS_ENTROPY_H_

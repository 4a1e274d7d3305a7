// The output head and the cross-entropy loss in one operation.
#ifndef TRAINYARD_TRAINER_OPS_CROSS_ENTROPY_H_
#define TRAINYARD_TRAINER_OPS_CROSS_ENTROPY_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// Sum over rows of -log softmax(hidden weight^T)[target], as an fp64 scalar.
// hidden: [rows, width], weight: [vocabulary, width], targets: int64 [rows], each inside the
// vocabulary. Works through `rows_per_chunk` rows at a time and computes the gradients of hidden
// and weight in the same pass, so that logits never exist for all rows (the idea of Liger Kernel,
// arXiv 2410.10989). Without gradients it only computes the loss.
torch::Tensor LinearCrossEntropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                 const torch::Tensor& targets, int64_t rows_per_chunk);

// Rows of logits that stay in a CPU's cache, or keep a GPU busy at about a GiB.
int64_t CrossEntropyRowsPerChunk(int64_t vocabulary, torch::Device device);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_CROSS_ENTROPY_H_

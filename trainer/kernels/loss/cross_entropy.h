// Cross-entropy over rows of logits. The gradient of the logits overwrites the logits.
#ifndef TRAINYARD_TRAINER_KERNELS_LOSS_CROSS_ENTROPY_H_
#define TRAINYARD_TRAINER_KERNELS_LOSS_CROSS_ENTROPY_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// The loss of row r is w[r] * (log(sum(exp(logits[r]))) - logits[r][target[r]]). The gradient of
// the logits, w[r] * (softmax(logits[r]) - onehot(target[r])), overwrites the logits. This gradient
// is computed in fp32 and rounded once.
struct CrossEntropyArguments {
  void* logits = nullptr;               // [rows, vocabulary] of `type`; overwritten by the gradient
  const int64_t* targets = nullptr;     // [rows], each in [0, vocabulary)
  const float* loss_weights = nullptr;  // [rows]; weight 0 gives a gradient of exactly 0
  float* row_losses = nullptr;          // [rows], workspace
  double* loss = nullptr;               // [1]; the rows' losses are added in a fixed order, in fp64
  bool with_gradient = true;            // False: the logits do not change.
  int64_t rows = 0;
  int64_t vocabulary = 0;  // rows * vocabulary may be larger than 2^31.
  ElementType type = ElementType::kBFloat16;
};

// With a gradient, reads every logit twice and writes it once. Supports vocabularies of up to 2^30
// - 1 tokens. Uses 16-byte accesses if sizes and addresses allow.
void CrossEntropy(const CrossEntropyArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_LOSS_CROSS_ENTROPY_H_

// Cross-entropy over the logits of one part of the vocabulary, the tokens first_token to
// first_token + width - 1.
#ifndef TRAINYARD_TRAINER_KERNELS_LOSS_VOCABULARY_CROSS_ENTROPY_H_
#define TRAINYARD_TRAINER_KERNELS_LOSS_VOCABULARY_CROSS_ENTROPY_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

struct CrossEntropyStatisticsArguments {
  const void* logits = nullptr;      // [rows, width] of `type`
  const int64_t* targets = nullptr;  // [rows], as tokens of the whole vocabulary
  // [rows, 3]: the largest logit, the sum of exp(logit - largest), and the logit of the target (0
  // if the target is in another part).
  float* statistics = nullptr;
  int64_t rows = 0;
  int64_t first_token = 0;
  int64_t width = 0;  // At least 1. rows * width may be larger than 2^31.
  ElementType type = ElementType::kBFloat16;
};

// Reads every logit once.
void CrossEntropyStatistics(const CrossEntropyStatisticsArguments& arguments, cudaStream_t stream);

// The loss of row r is w[r] * (log_sum_exp[r] - target_logit[r]), where w is loss_weights. The
// gradient of the row's logits is w[r] * (exp(logit - log_sum_exp[r]) - onehot(target[r])). This
// gradient is computed in fp32, rounded once, and overwrites the logits.
struct CrossEntropyOfPartArguments {
  void* logits = nullptr;               // [rows, width] of `type`; overwritten by the gradient
  const int64_t* targets = nullptr;     // [rows], as tokens of the whole vocabulary
  const float* loss_weights = nullptr;  // [rows]; weight 0 gives a gradient of exactly 0
  const float* combined = nullptr;      // [rows, 2]: log_sum_exp and target_logit over all parts
  double* loss = nullptr;               // [1]; the rows' losses are added in a fixed order, in fp64
  bool with_gradient = true;            // False: the logits do not change.
  int64_t rows = 0;
  int64_t first_token = 0;
  int64_t width = 0;  // At least 1. rows * width may be larger than 2^31.
  ElementType type = ElementType::kBFloat16;
};

// With a gradient, reads and writes every logit once. Without a gradient, accesses no logits.
void CrossEntropyOfPart(const CrossEntropyOfPartArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_LOSS_VOCABULARY_CROSS_ENTROPY_H_

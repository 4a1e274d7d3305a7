// The cross-entropy loss with the gradient of the logits in their place.
#ifndef TRAINYARD_TRAINER_OPS_CROSS_ENTROPY_H_
#define TRAINYARD_TRAINER_OPS_CROSS_ENTROPY_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// The tokens to predict and how much each counts.
struct Targets {
  torch::Tensor tokens;   // int64 [rows], each inside the vocabulary.
  torch::Tensor weights;  // fp32 [rows], or fp64 where the model is.
};

enum class LossPass { kLossAndGradient, kLossOnly };

// Adds to `loss`, an fp64 scalar, the sum of w * -log softmax(logits)[target] over the rows. Then
// turns each row of logits [rows, vocabulary] into its gradient w * (softmax - onehot), computed in
// the compute type and rounded once; without a gradient the logits stay as they are.
void CrossEntropy(torch::Tensor& logits, const Targets& targets, LossPass pass,
                  torch::Tensor& loss);

// Rows of logits that stay in a CPU's cache, or keep a GPU busy.
int64_t CrossEntropyRowsPerChunk(int64_t vocabulary, torch::Device device);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_CROSS_ENTROPY_H_

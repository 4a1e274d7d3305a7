// The targets of the cross-entropy loss.
#ifndef TRAINYARD_TRAINER_OPS_TENSORS_LOSS_TARGETS_H_
#define TRAINYARD_TRAINER_OPS_TENSORS_LOSS_TARGETS_H_

#include <torch/types.h>

namespace trainyard::trainer {

// Target tokens and their weights.
struct Targets {
  torch::Tensor tokens;   // int64 [rows], each one in the vocabulary.
  torch::Tensor weights;  // [rows], fp64 for an fp64 model, else fp32.
};

enum class LossPass { kLossAndGradient, kLossOnly };

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TENSORS_LOSS_TARGETS_H_

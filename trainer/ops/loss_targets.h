// Targets of the cross-entropy loss.
#ifndef TRAINYARD_TRAINER_OPS_LOSS_TARGETS_H_
#define TRAINYARD_TRAINER_OPS_LOSS_TARGETS_H_

#include <torch/types.h>

namespace trainyard::trainer {

// Target tokens and their weights.
struct Targets {
  torch::Tensor tokens;   // int64 [rows], each within the vocabulary.
  torch::Tensor weights;  // fp32 [rows]; fp64 for an fp64 model.
};

enum class LossPass { kLossAndGradient, kLossOnly };

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_LOSS_TARGETS_H_

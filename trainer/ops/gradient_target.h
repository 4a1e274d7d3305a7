// The place of a weight gradient.
#ifndef TRAINYARD_TRAINER_OPS_GRADIENT_TARGET_H_
#define TRAINYARD_TRAINER_OPS_GRADIENT_TARGET_H_

#include <torch/types.h>

namespace trainyard::trainer {

// The first micro-batch of a step overwrites, the later ones add: gradients are never set to zero.
struct GradientTarget {
  torch::Tensor gradient;   // In the compute type (compute_type.h) of the weight.
  bool accumulate = false;  // Adds to `gradient`, else overwrites it.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_GRADIENT_TARGET_H_

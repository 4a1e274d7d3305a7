// Destination of a weight gradient.
#ifndef TRAINYARD_TRAINER_OPS_GRADIENT_TARGET_H_
#define TRAINYARD_TRAINER_OPS_GRADIENT_TARGET_H_

#include <torch/types.h>

namespace trainyard::trainer {

// A step's first micro-batch overwrites the gradient and later ones add to it, so no
// pass to zero gradients is needed.
struct GradientTarget {
  torch::Tensor gradient;   // In the compute type (compute_type.h) of the weight.
  bool accumulate = false;  // Adds to `gradient` instead of overwriting it.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_GRADIENT_TARGET_H_

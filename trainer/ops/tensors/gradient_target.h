// Destination of a weight gradient.
#ifndef TRAINYARD_TRAINER_OPS_TENSORS_GRADIENT_TARGET_H_
#define TRAINYARD_TRAINER_OPS_TENSORS_GRADIENT_TARGET_H_

#include <torch/types.h>

namespace trainyard::trainer {

// The first micro-batch of a step overwrites the gradient and later micro-batches add to it, so
// that no pass is needed to set gradients to zero.
struct GradientTarget {
  torch::Tensor gradient;   // In the compute type of the weight (compute_type.h).
  bool accumulate = false;  // True: adds to `gradient`. False: overwrites it.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TENSORS_GRADIENT_TARGET_H_

// Activations of rows. The result of each row is multiplied by the weight of the row's expert.
#ifndef TRAINYARD_TRAINER_OPS_EXPERTS_SCALED_ACTIVATION_H_
#define TRAINYARD_TRAINER_OPS_EXPERTS_SCALED_ACTIVATION_H_

#include <torch/types.h>

#include "proto/contract/model_config.h"

namespace trainyard::trainer {

// out = activation(packed) * scales, rounded once. The shapes are those of ActivationForward;
// scales is [rows] in the compute type.
void ScaledActivationForward(Activation kind, const torch::Tensor& packed,
                             const torch::Tensor& scales, torch::Tensor& out);

// Writes the gradient of `packed` to d_packed, which may share the memory of `packed`. Returns the
// gradient of the scales. If `out` is defined, recomputes the forward result into it.
torch::Tensor ScaledActivationBackward(Activation kind, const torch::Tensor& dout,
                                       const torch::Tensor& packed, const torch::Tensor& scales,
                                       torch::Tensor& d_packed, torch::Tensor& out);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_EXPERTS_SCALED_ACTIVATION_H_

// Activations of the feed-forward layer: SwiGLU (Shazeer 2020, arXiv 2002.05202), GELU and its tanh
// approximation (Hendrycks and Gimpel 2016, arXiv 1606.08415), and squared ReLU (So et al. 2021,
// arXiv 2109.08668).
#ifndef TRAINYARD_TRAINER_OPS_ACTIVATION_H_
#define TRAINYARD_TRAINER_OPS_ACTIVATION_H_

#include <torch/types.h>

#include "proto/contract/model_config.h"

namespace trainyard::trainer {

// `out` is [rows, width]. `packed` is [rows, width]; for SwiGLU it is [rows, 2 * width], gate
// first.
void ActivationForward(Activation kind, const torch::Tensor& packed, torch::Tensor& out);

// Writes the gradient of `packed` to d_packed, which may share the memory of `packed`. If `out` is
// defined, recomputes the forward result into it.
void ActivationBackward(Activation kind, const torch::Tensor& dout, const torch::Tensor& packed,
                        torch::Tensor& d_packed, torch::Tensor& out);

// The functions below are for SwiGLU: out = silu(gate) * up.
void SwiGluForward(const torch::Tensor& packed, torch::Tensor& out);
void SwiGluBackward(const torch::Tensor& dout, const torch::Tensor& packed, torch::Tensor& d_packed,
                    torch::Tensor& out);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ACTIVATION_H_

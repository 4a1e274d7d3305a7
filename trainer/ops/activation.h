// Activations of the feed-forward layer: SwiGLU (Shazeer 2020, arXiv 2002.05202), GELU and its
// approximation by tanh (Hendrycks and Gimpel 2016, arXiv 1606.08415), squared ReLU (So et al.
// 2021, arXiv 2109.08668).
#ifndef TRAINYARD_TRAINER_OPS_ACTIVATION_H_
#define TRAINYARD_TRAINER_OPS_ACTIVATION_H_

#include <torch/types.h>

#include "proto/contract/run_config.h"

namespace trainyard::trainer {

// out: [rows, width]; packed: of the same shape, or with swiglu [rows, 2 * width], the gate first.
void ActivationForward(Activation kind, const torch::Tensor& packed, torch::Tensor& out);

// d_packed: the gradient of packed; may be the memory of packed. `out`, where it is defined, gets
// the result of the forward pass again.
void ActivationBackward(Activation kind, const torch::Tensor& dout, const torch::Tensor& packed,
                        torch::Tensor& d_packed, torch::Tensor& out);

// The same for swiglu: out = silu(gate) * up.
void SwiGluForward(const torch::Tensor& packed, torch::Tensor& out);
void SwiGluBackward(const torch::Tensor& dout, const torch::Tensor& packed, torch::Tensor& d_packed,
                    torch::Tensor& out);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ACTIVATION_H_

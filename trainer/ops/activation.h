// SwiGLU (Shazeer 2020, arXiv 2002.05202).
#ifndef TRAINYARD_TRAINER_OPS_ACTIVATION_H_
#define TRAINYARD_TRAINER_OPS_ACTIVATION_H_

#include <torch/types.h>

namespace trainyard::trainer {

// out = silu(gate) * up. packed: rows [rows, 2 * width] with the gate first; out: [rows, width].
void SwiGluForward(const torch::Tensor& packed, torch::Tensor& out);

// d_packed: the gradient of packed; may be the memory of packed. `out`, where it is defined, gets
// the result of the forward pass again.
void SwiGluBackward(const torch::Tensor& dout, const torch::Tensor& packed, torch::Tensor& d_packed,
                    torch::Tensor& out);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ACTIVATION_H_

// SwiGLU (Shazeer 2020, arXiv 2002.05202).
#ifndef TRAINYARD_TRAINER_OPS_SWIGLU_H_
#define TRAINYARD_TRAINER_OPS_SWIGLU_H_

#include <torch/types.h>

namespace trainyard::trainer {

// silu(gate) * up for packed rows [rows, 2 * width] with the gate first. Keeps only its input for
// the backward pass.
torch::Tensor SwiGlu(const torch::Tensor& packed);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_SWIGLU_H_

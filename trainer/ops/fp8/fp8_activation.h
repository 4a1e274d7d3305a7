// SwiGLU and its gradient with results in FP8. Each function has the bits of its 16-bit or fp32
// version (activation.h) followed by ToFp8 (fp8.h). On a GPU, the wider results do not pass through
// memory; there, all sizes must be multiples of kFp8Multiple.
#ifndef TRAINYARD_TRAINER_OPS_FP8_FP8_ACTIVATION_H_
#define TRAINYARD_TRAINER_OPS_FP8_FP8_ACTIVATION_H_

#include <torch/types.h>

#include "trainer/ops/tensors/fp8_matrix.h"

namespace trainyard::trainer {

// `packed` is [rows, 2 * width], gate first. The result is [rows, width], in kE4M3.
Fp8Matrix SwiGluForwardToFp8(const torch::Tensor& packed, const Fp8Scale& scale,
                             Fp8Arrangement arrangement);

// Returns the gradient of `packed` in both arrangements, in kE5M2. `dout` is [rows, width].
Fp8Matrix SwiGluBackwardToFp8(const torch::Tensor& dout, const torch::Tensor& packed,
                              const Fp8Scale& scale);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_FP8_FP8_ACTIVATION_H_

// SwiGLU and its gradient with results in FP8. The 16-bit results do not pass through memory.
#ifndef TRAINYARD_TRAINER_KERNELS_FP8_FP8_SWIGLU_H_
#define TRAINYARD_TRAINER_KERNELS_FP8_FP8_SWIGLU_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// The destination of a result in FP8. All results have the bits of SwiGluForward or SwiGluBackward
// (activation.h) followed by CastToFp8 (fp8_cast.h).
struct Fp8Target {
  const float* scale = nullptr;    // [1]
  uint8_t* rows_out = nullptr;     // [rows, columns of the result], or null
  uint8_t* columns_out = nullptr;  // The transposed matrix, or null
  float* inverse_scale = nullptr;  // [1]
  float* amax = nullptr;           // [1], not negative; or null
  ElementType type = ElementType::kFp8E4M3;
};

// rows and width must be multiples of 16, and addresses multiples of 16 bytes.
struct Fp8SwiGluForwardArguments {
  const void* packed = nullptr;  // [rows, 2 * width] of `type`: a row contains [gate, up]
  Fp8Target out;                 // [rows, width]
  int64_t rows = 0;
  int64_t width = 0;
  ElementType type = ElementType::kBFloat16;
};

void Fp8SwiGluForward(const Fp8SwiGluForwardArguments& arguments, cudaStream_t stream);

// rows and width must be multiples of 16, and addresses multiples of 16 bytes.
struct Fp8SwiGluBackwardArguments {
  const void* dout = nullptr;    // [rows, width] of `type`
  const void* packed = nullptr;  // [rows, 2 * width] of `type`
  Fp8Target d_packed;            // [rows, 2 * width]
  int64_t rows = 0;
  int64_t width = 0;
  ElementType type = ElementType::kBFloat16;
};

void Fp8SwiGluBackward(const Fp8SwiGluBackwardArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_FP8_FP8_SWIGLU_H_

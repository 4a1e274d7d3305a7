// Copies of matrices in FP8.
#ifndef TRAINYARD_TRAINER_KERNELS_FP8_FP8_CAST_H_
#define TRAINYARD_TRAINER_KERNELS_FP8_FP8_CAST_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// Rounds x * scale to FP8, to nearest even. Numbers beyond the largest finite number become the
// largest finite number, and NaN becomes 0x7f. The same pass over x raises amax to the largest |x|.
// inverse_scale becomes 1 / scale.
struct Fp8CastArguments {
  const void* x = nullptr;         // [rows, width] of `type`
  const float* scale = nullptr;    // [1]
  uint8_t* rows_out = nullptr;     // [rows, width], or null
  uint8_t* columns_out = nullptr;  // [width, rows], the transposed matrix; or null
  float* inverse_scale = nullptr;  // [1]
  float* amax = nullptr;           // [1], not negative; or null
  int64_t rows = 0;
  int64_t width = 0;
  ElementType type = ElementType::kBFloat16;
  ElementType fp8_type = ElementType::kFp8E4M3;
};

// Supports any shape and address. Fast if addresses, width and, with columns_out, rows are
// multiples of 16.
void CastToFp8(const Fp8CastArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_FP8_FP8_CAST_H_

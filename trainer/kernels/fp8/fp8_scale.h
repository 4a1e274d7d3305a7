// Scales of FP8 copies, and the largest absolute values from which they are computed.
#ifndef TRAINYARD_TRAINER_KERNELS_FP8_FP8_SCALE_H_
#define TRAINYARD_TRAINER_KERNELS_FP8_FP8_SCALE_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// Computes amax = max(amax, largest |x|). NaN is larger than every number. Supports any address.
struct RaiseAmaxArguments {
  const void* x = nullptr;  // [count] of `type`
  float* amax = nullptr;    // [1], not negative
  int64_t count = 0;
  ElementType type = ElementType::kBFloat16;
};

void RaiseAmax(const RaiseAmaxArguments& arguments, cudaStream_t stream);

// Computes scale[i] = largest / amax[i], but at most the largest finite float. Keeps scale[i] if
// amax[i] is 0, infinite or NaN.
struct Fp8ScaleArguments {
  const float* amax = nullptr;  // [count]
  float* scale = nullptr;       // [count]
  int64_t count = 0;
  float largest = 0;  // The largest finite number of the FP8 type.
};

void UpdateFp8Scales(const Fp8ScaleArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_FP8_FP8_SCALE_H_

// The logistic function, with the accuracy that an element type needs. For .cu files only.
#ifndef TRAINYARD_TRAINER_KERNELS_SIGMOID_CUH_
#define TRAINYARD_TRAINER_KERNELS_SIGMOID_CUH_

#include <cuda_runtime.h>

#include <type_traits>

namespace trainyard::trainer::kernels {

// Uses the fast exponential only for 16-bit types: it is much more accurate than these types, but
// less accurate than fp32.
template <typename T>
__device__ __forceinline__ float Sigmoid(float x) {
  if constexpr (std::is_same_v<T, float>) {
    return 1.0f / (1.0f + expf(-x));
  } else {
    return __fdividef(1.0f, 1.0f + __expf(-x));
  }
}

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_SIGMOID_CUH_

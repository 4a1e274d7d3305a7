// SwiGLU of one vector and its gradient. For .cu files only.
#ifndef TRAINYARD_TRAINER_KERNELS_SWIGLU_CUH_
#define TRAINYARD_TRAINER_KERNELS_SWIGLU_CUH_

#include <cstdint>

#include "trainer/kernels/sigmoid.cuh"

namespace trainyard::trainer::kernels {

// Returns the offset, in elements of the packed rows [gate, up], of the gate vector that belongs to
// output vector `index`. An output row has `row_vectors` vectors.
template <int kSize>
__device__ __forceinline__ int64_t GateOffset(int64_t index, int64_t row_vectors) {
  return (index + index / row_vectors * row_vectors) * kSize;
}

// Computes the gradients of one vector in place. On return, `gate` and `up` contain their
// gradients, and `dout` contains the forward result.
template <typename T, int kSize>
__device__ __forceinline__ void ReplaceByGradients(float (&dout)[kSize], float (&gate)[kSize],
                                                   float (&up)[kSize]) {
#pragma unroll
  for (int e = 0; e < kSize; ++e) {
    const float sigmoid = Sigmoid<T>(gate[e]);
    const float silu = gate[e] * sigmoid;
    const float silu_slope = sigmoid * (1.0f + gate[e] * (1.0f - sigmoid));
    const float result = silu * up[e];
    gate[e] = dout[e] * up[e] * silu_slope;
    up[e] = dout[e] * silu;
    dout[e] = result;
  }
}

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_SWIGLU_CUH_

// Computes the gradient of RMSNorm for one vector of a row. For .cu files only.
#ifndef TRAINYARD_TRAINER_KERNELS_NORMS_NORM_GRADIENT_CUH_
#define TRAINYARD_TRAINER_KERNELS_NORMS_NORM_GRADIENT_CUH_

#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {

// One vector of each operand, in fp32.
template <int kSize>
struct Operands {
  float dy[kSize];
  float x[kSize];
  float weight[kSize];
};

template <typename T, int kSize>
__device__ __forceinline__ Operands<kSize> ToOperands(const Vector<T, kSize>& dy,
                                                      const Vector<T, kSize>& x,
                                                      const Vector<T, kSize>& weight) {
  Operands<kSize> operands;
  ToFloats(dy, operands.dy);
  ToFloats(x, operands.x);
  ToFloats(weight, operands.weight);
  return operands;
}

// Returns the contribution of the vector to the sum of dy * weight * x.
template <int kSize>
__device__ __forceinline__ float Dot(const Operands<kSize>& operands) {
  float dot = 0;
#pragma unroll
  for (int e = 0; e < kSize; ++e) dot += operands.dy[e] * operands.weight[e] * operands.x[e];
  return dot;
}

// Adds dy * n of one row to the sums of the vector's columns.
template <int kSize>
__device__ __forceinline__ void AddColumns(const Operands<kSize>& operands, float inverse_rms,
                                           float (&sums)[kSize]) {
#pragma unroll
  for (int e = 0; e < kSize; ++e) sums[e] += operands.dy[e] * (operands.x[e] * inverse_rms);
}

// `mean` is the mean of dy * weight * n over the row. `result` contains the residual gradient at
// first, and dx on return.
template <int kSize>
__device__ __forceinline__ void AddDx(const Operands<kSize>& operands, float inverse_rms,
                                      float mean, float (&result)[kSize]) {
#pragma unroll
  for (int e = 0; e < kSize; ++e) {
    const float normed = operands.x[e] * inverse_rms;
    result[e] += (operands.dy[e] * operands.weight[e] - normed * mean) * inverse_rms;
  }
}

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_NORMS_NORM_GRADIENT_CUH_

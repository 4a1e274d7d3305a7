// Finds the largest absolute value of a tensor. For .cu files only.
#ifndef TRAINYARD_TRAINER_KERNELS_FP8_FP8_AMAX_CUH_
#define TRAINYARD_TRAINER_KERNELS_FP8_FP8_AMAX_CUH_

#include <cstdint>

#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {

// Returns the bits of |value|. As integers, they have the order of the numbers, and the bits of NaN
// are larger than those of infinity.
__device__ __forceinline__ uint32_t MagnitudeBits(float value) {
  return __float_as_uint(value) & 0x7fffffffu;
}

// Raises amax to the largest argument in a block of kThreads threads. Every thread must call this
// function. The result does not depend on the order of the blocks.
template <int kThreads>
__device__ __forceinline__ void RaiseAmaxByBlock(uint32_t magnitude, float* amax) {
  magnitude = BlockMax<kThreads>(magnitude);
  auto* bits = reinterpret_cast<unsigned*>(amax);
  // amax only rises, so a block whose value is not above an old amax need not change it. Without
  // this test, all blocks would wait for one address.
  if (threadIdx.x == 0 && magnitude > *const_cast<volatile unsigned*>(bits)) {
    atomicMax(bits, magnitude);
  }
}

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_FP8_FP8_AMAX_CUH_

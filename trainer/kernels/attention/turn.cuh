// Rotation of pairs of elements by rotary positions. For .cu files only.
#ifndef TRAINYARD_TRAINER_KERNELS_ATTENTION_TURN_CUH_
#define TRAINYARD_TRAINER_KERNELS_ATTENTION_TURN_CUH_

namespace trainyard::trainer::kernels {

// Rotates vectors of pairs: (a, b) becomes (a cos - b sin, b cos + a sin).
template <int kSize>
__device__ __forceinline__ void Turn(const float (&cos)[kSize], const float (&sin)[kSize],
                                     float (&first)[kSize], float (&second)[kSize]) {
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    const float a = first[i], b = second[i];
    first[i] = a * cos[i] - b * sin[i];
    second[i] = b * cos[i] + a * sin[i];
  }
}

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ATTENTION_TURN_CUH_

// Stochastic rounding from fp32 to bf16, which is unbiased: on average, a moment in bf16 keeps the
// sum of many updates that are too small for its precision (Gupta et al. 2015, arXiv 1502.02551).
#ifndef TRAINYARD_TRAINER_KERNELS_OPTIMIZER_STOCHASTIC_ROUNDING_H_
#define TRAINYARD_TRAINER_KERNELS_OPTIMIZER_STOCHASTIC_ROUNDING_H_

#include <cstdint>

#include "trainer/kernels/host_device.h"

namespace trainyard::trainer::kernels {

// Returns 64 well-mixed bits for a counter. Uses the finalizer of SplitMix64 (Steele et al. 2014,
// doi 10.1145/2660193.2660195).
TRAINYARD_HOST_DEVICE inline uint64_t MixBits(uint64_t counter) {
  counter += 0x9e3779b97f4a7c15u;
  counter = (counter ^ (counter >> 30)) * 0xbf58476d1ce4e5b9u;
  counter = (counter ^ (counter >> 27)) * 0x94d049bb133111ebu;
  return counter ^ (counter >> 31);
}

// Returns random bits for one element in one step. The low half is for the first moment, the high
// half for the second moment.
TRAINYARD_HOST_DEVICE inline uint32_t RoundingBits(int64_t step, int64_t element) {
  const uint64_t stream = MixBits(static_cast<uint64_t>(step));
  return static_cast<uint32_t>(MixBits(stream ^ static_cast<uint64_t>(element)) >> 32);
}

// Adds 16 random bits to the lower half of an fp32 number and returns the upper half. Preserves
// infinities and NaN, and makes no finite number infinite.
TRAINYARD_HOST_DEVICE inline uint16_t RoundToBFloat16(uint32_t bits, uint32_t random) {
  constexpr uint32_t kLargest = 0x7f7f0000u;  // Magnitude of the largest bf16 number.
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude >= kLargest) return static_cast<uint16_t>(bits >> 16);
  return static_cast<uint16_t>((bits + (random & 0xffffu)) >> 16);
}

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_OPTIMIZER_STOCHASTIC_ROUNDING_H_

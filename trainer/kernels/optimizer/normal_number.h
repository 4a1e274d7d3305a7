// Standard normal numbers as a pure function of a key and an index.
#ifndef TRAINYARD_TRAINER_KERNELS_OPTIMIZER_NORMAL_NUMBER_H_
#define TRAINYARD_TRAINER_KERNELS_OPTIMIZER_NORMAL_NUMBER_H_

#include <cmath>
#include <cstdint>

#include "trainer/kernels/host_device.h"
#include "trainer/kernels/optimizer/stochastic_rounding.h"

namespace trainyard::trainer::kernels {

// Returns number `counter` of the random sequence `key`, in (0, 1]. Excludes 0, so that the
// logarithm is finite.
TRAINYARD_HOST_DEVICE inline double UniformNumber(uint64_t key, uint64_t counter) {
  const uint64_t bits = MixBits(key + counter * 0x9e3779b97f4a7c15u);
  return static_cast<double>((bits >> 11) + 1) * 0x1.0p-53;
}

// The Box-Muller transform (1958). The two elements of a pair, an even index and the next one,
// share a radius and an angle: one uses the cosine, the other uses the sine.
struct NormalPair {
  double radius = 0;
  double angle = 0;
};

TRAINYARD_HOST_DEVICE inline NormalPair NormalPairAt(uint64_t key, uint64_t even_index) {
  constexpr double kTwoPi = 6.283185307179586;
  return {sqrt(-2.0 * log(UniformNumber(key, even_index))),
          kTwoPi * UniformNumber(key, even_index + 1)};
}

// Returns element number `index` of the infinite sequence of standard normal numbers for `key`. The
// last bit depends on the device, because the mathematical functions of devices differ.
TRAINYARD_HOST_DEVICE inline float StandardNormal(uint64_t key, int64_t index) {
  const auto place = static_cast<uint64_t>(index);
  const NormalPair pair = NormalPairAt(key, place & ~uint64_t{1});
  return static_cast<float>(pair.radius * (place % 2 == 0 ? cos(pair.angle) : sin(pair.angle)));
}

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_OPTIMIZER_NORMAL_NUMBER_H_

#include "trainer/step/gradient_noise.h"

#include <cmath>

namespace trainyard::trainer {
namespace {

// Weight of the past; averages about 100 steps.
constexpr double kDecay = 0.99;

}  // namespace

NoiseEstimate EstimateNoise(const BatchGradients& gradients) {
  const auto small = static_cast<double>(gradients.small_samples);
  const auto big = static_cast<double>(gradients.big_samples);
  return {
      .gradient = (big * gradients.big_squares - small * gradients.small_squares) / (big - small),
      .trace = (gradients.small_squares - gradients.big_squares) / (1 / small - 1 / big)};
}

void NoiseScaleAverage::Add(const NoiseEstimate& estimate) {
  gradient = kDecay * gradient + (1 - kDecay) * estimate.gradient;
  trace = kDecay * trace + (1 - kDecay) * estimate.trace;
}

std::optional<double> NoiseScaleAverage::Scale() const {
  const double scale = trace / gradient;
  if (!(gradient > 0) || !(trace >= 0) || !std::isfinite(scale)) return std::nullopt;
  return scale;
}

}  // namespace trainyard::trainer

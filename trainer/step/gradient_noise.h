// Gradient noise scale (McCandlish et al. 2018, arXiv 1812.06162): the batch size beyond which more
// samples a step bring little. Pure.
#ifndef TRAINYARD_TRAINER_STEP_GRADIENT_NOISE_H_
#define TRAINYARD_TRAINER_STEP_GRADIENT_NOISE_H_

#include <cstdint>
#include <optional>

namespace trainyard::trainer {

// Squared norms of the mean gradient of two batches of a step. Of the small one, the mean over
// several batches of its size.
struct BatchGradients {
  double small_squares = 0;
  double big_squares = 0;
  int64_t small_samples = 0;  // Below big_samples.
  int64_t big_samples = 0;
};

// Unbiased estimates from one step (appendix A.1). They may be negative.
struct NoiseEstimate {
  double gradient = 0;  // |G|^2: squared norm of the true gradient.
  double trace = 0;     // tr(Sigma): variance of one sample's gradient, over all elements.
};

// With S of a batch of B samples: E[S] = |G|^2 + tr(Sigma) / B, solved for both.
NoiseEstimate EstimateNoise(const BatchGradients& gradients);

// tr(Sigma) / |G|^2 from averages of both over many steps: their ratio in one step is biased.
struct NoiseScaleAverage {
  // Exponential averages that begin at 0: the correction for that cancels in the ratio.
  double gradient = 0;
  double trace = 0;

  void Add(const NoiseEstimate& estimate);
  // In samples; none while the averages do not tell the gradient from the noise.
  std::optional<double> Scale() const;

  bool operator==(const NoiseScaleAverage&) const = default;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_GRADIENT_NOISE_H_

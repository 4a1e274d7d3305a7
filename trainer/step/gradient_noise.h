// The gradient noise scale (McCandlish et al. 2018, arXiv 1812.06162): the batch size above which
// more samples per step bring little benefit. Pure functions.
#ifndef TRAINYARD_TRAINER_STEP_GRADIENT_NOISE_H_
#define TRAINYARD_TRAINER_STEP_GRADIENT_NOISE_H_

#include <cstdint>
#include <optional>

namespace trainyard::trainer {

// Squared norms of the mean gradient for two batch sizes, measured in one step. The norm for the
// small size is averaged over several small batches.
struct BatchGradients {
  double small_squares = 0;
  double big_squares = 0;
  int64_t small_samples = 0;  // Less than big_samples.
  int64_t big_samples = 0;
};

// Unbiased estimates from one step (appendix A.1 of the paper). Both estimates may be negative.
struct NoiseEstimate {
  double gradient = 0;  // |G|^2: squared norm of the true gradient.
  double trace = 0;     // tr(Sigma): variance of one sample's gradient, summed over all elements.
};

// For a batch of B samples with squared norm S, E[S] = |G|^2 + tr(Sigma) / B. The two batch sizes
// give two equations, which are solved for |G|^2 and tr(Sigma).
NoiseEstimate EstimateNoise(const BatchGradients& gradients);

// Estimates tr(Sigma) / |G|^2. Averages numerator and denominator over many steps before dividing,
// because the ratio of a single step's estimates is biased.
struct NoiseScaleAverage {
  // Exponential averages that start at 0. No bias correction is needed, because it would cancel in
  // the ratio.
  double gradient = 0;
  double trace = 0;

  void Add(const NoiseEstimate& estimate);
  // The noise scale in samples; nullopt if the averages cannot yet separate the gradient from the
  // noise.
  std::optional<double> Scale() const;

  bool operator==(const NoiseScaleAverage&) const = default;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_GRADIENT_NOISE_H_

// Predicts the loss of a run for more tokens than it has seen, with a law fitted to its losses.
// Pure.
#ifndef TRAINYARD_CONTROLLER_PLANNER_LOSS_FORECAST_H_
#define TRAINYARD_CONTROLLER_PLANNER_LOSS_FORECAST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::planner {

// The loss after this many tokens of the run.
struct LossPoint {
  double tokens = 0;
  double loss = 0;
};

// L = floor + scale / D^exponent: LossOf (scaling_law.h) for one model, whose parameter term is
// part of the floor. floor >= 0, scale > 0.
struct LossLaw {
  double floor = 0;
  double scale = 0;
  double exponent = 0;

  double At(double tokens) const;
};

// Bounds of the exponent. Kaplan's law has 0.095, Hoffmann's 0.28.
inline constexpr double kLeastExponent = 0.05;
inline constexpr double kMostExponent = 1.0;

// Requirements of a fit: enough losses after the warm-up, and a range of tokens wide enough to show
// the law.
inline constexpr int64_t kLeastLossPoints = 20;
inline constexpr double kLeastTokenRange = 4;
// Share of the run whose losses are ignored: losses at the beginning follow no power law.
inline constexpr double kEarlyPart = 0.1;
// Maximum ratio of a forecast's tokens to those seen. Laws fitted to many runs predicted the loss
// of runs with 300 times the operations (Gadre et al. 2024, arXiv 2403.08540). The curve of a
// single run contains less information, so a third of that is allowed.
inline constexpr double kMostTokenRatio = 100;
// Beyond this ratio the interval depends more on the form of the law than on the losses.
inline constexpr double kSafeTokenRatio = 10;

struct LossForecast {
  LossLaw law;
  double loss = 0;  // Expected loss at the requested tokens.
  // 95 % interval of the expected loss. The loss of a single step has additional noise.
  double low = 0;
  double high = 0;
  double noise = 0;  // Standard deviation of a step's loss.
  int64_t points = 0;
  bool exponent_at_bound = false;
  bool is_far = false;  // Beyond kSafeTokenRatio.
};

struct ForecastResult {
  std::optional<LossForecast> forecast;
  std::string problem;  // Why there is no forecast; empty if there is one.
  std::string advice;
};

// `points` must be in ascending order of tokens. Losses that are not finite, and those of the first
// `warmup_tokens` and of the first tenth of the run, are ignored. The fit is robust (Huber), so
// spikes hardly affect it. The interval covers all exponents that explain the losses about equally
// well.
ForecastResult ForecastLoss(const std::vector<LossPoint>& points, double warmup_tokens,
                            double tokens);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_LOSS_FORECAST_H_

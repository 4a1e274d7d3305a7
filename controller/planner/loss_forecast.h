// Predicts the loss of a run at a larger number of tokens, with a law that is fitted to the run's
// losses. Has no side effects.
#ifndef TRAINYARD_CONTROLLER_PLANNER_LOSS_FORECAST_H_
#define TRAINYARD_CONTROLLER_PLANNER_LOSS_FORECAST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::planner {

// The loss after the run has trained on `tokens` tokens.
struct LossPoint {
  double tokens = 0;
  double loss = 0;
};

// L = floor + scale / D^exponent, with floor >= 0 and scale > 0. This law is LossOf (scaling_law.h)
// for a single model: the model's parameter term is part of the floor.
struct LossLaw {
  double floor = 0;
  double scale = 0;
  double exponent = 0;

  double At(double tokens) const;
};

// The bounds of the exponent. Kaplan's law has 0.095, and Hoffmann's has 0.28.
inline constexpr double kLeastExponent = 0.05;
inline constexpr double kMostExponent = 1.0;

// A fit needs enough losses after the warm-up, over a wide enough range of tokens to show the law.
inline constexpr int64_t kLeastLossPoints = 20;
inline constexpr double kLeastTokenRange = 4;
// The initial share of the run whose losses are ignored, because they follow no power law.
inline constexpr double kEarlyPart = 0.1;
// The maximum ratio of a forecast's tokens to the tokens seen. Laws fitted to many runs have
// predicted the loss of runs with 300 times as many operations (Gadre et al. 2024, arXiv
// 2403.08540). A single run's curve contains less information, so only a third of that ratio is
// allowed.
inline constexpr double kMostTokenRatio = 100;
// Beyond this ratio, the forecast interval depends more on the assumed form of the law than on the
// losses.
inline constexpr double kSafeTokenRatio = 10;

struct LossForecast {
  LossLaw law;
  double loss = 0;  // The expected loss after the requested tokens.
  // The 95 % interval of the expected loss. The loss of a single step also has noise and may lie
  // outside.
  double low = 0;
  double high = 0;
  double noise = 0;  // The standard deviation of a single step's loss.
  int64_t points = 0;
  bool exponent_at_bound = false;
  bool is_far = false;  // Beyond kSafeTokenRatio.
};

struct ForecastResult {
  std::optional<LossForecast> forecast;
  std::string problem;  // Why there is no forecast. Empty if there is one.
  std::string advice;
};

// `points` must be sorted by tokens. Ignores losses that are not finite, losses of the first
// `warmup_tokens`, and losses of the first tenth of the run. The fit is robust (Huber), so spikes
// hardly affect it. The interval covers the forecasts of all exponents that fit the losses about
// equally well.
ForecastResult ForecastLoss(const std::vector<LossPoint>& points, double warmup_tokens,
                            double tokens);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_LOSS_FORECAST_H_

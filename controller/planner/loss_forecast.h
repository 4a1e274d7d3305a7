// Loss of a run at more tokens than it has seen, by a law that is fitted to its losses. Pure.
#ifndef TRAINYARD_CONTROLLER_PLANNER_LOSS_FORECAST_H_
#define TRAINYARD_CONTROLLER_PLANNER_LOSS_FORECAST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::planner {

// A loss after so many tokens of the run.
struct LossPoint {
  double tokens = 0;
  double loss = 0;
};

// L = floor + scale / D^exponent: the form of LossOf (scaling_law.h) for one model, whose term of
// the parameters is a part of the floor. floor >= 0, scale > 0.
struct LossLaw {
  double floor = 0;
  double scale = 0;
  double exponent = 0;

  double At(double tokens) const;
};

// Bounds of the exponent: Kaplan's law has 0.095, Hoffmann's 0.28.
inline constexpr double kLeastExponent = 0.05;
inline constexpr double kMostExponent = 1.0;

// Needs of a fit: losses after the warm-up, and a range of tokens in which the law can show.
inline constexpr int64_t kLeastLossPoints = 20;
inline constexpr double kLeastTokenRange = 4;
// The losses of the first part of a run follow no power law.
inline constexpr double kEarlyPart = 0.1;
// Limit on a forecast's tokens over those seen. Laws fitted to many runs predicted the loss of runs
// with 300 times the operations (Gadre et al. 2024, arXiv 2403.08540). The curve of a single run
// shows less, so a third of that is allowed.
inline constexpr double kMostTokenRatio = 100;
// Beyond this ratio the interval rests on the form of the law more than on the losses.
inline constexpr double kSafeTokenRatio = 10;

struct LossForecast {
  LossLaw law;
  double loss = 0;  // Expected at the tokens asked for.
  // 95 % interval of the expected loss; a single step's loss has its noise besides.
  double low = 0;
  double high = 0;
  double noise = 0;  // Standard deviation of a step's loss.
  int64_t points = 0;
  bool exponent_at_bound = false;
  bool is_far = false;  // Beyond kSafeTokenRatio.
};

struct ForecastResult {
  std::optional<LossForecast> forecast;
  std::string problem;  // Why there is no forecast; empty where there is one.
  std::string advice;
};

// `points`: by growing tokens; losses that are not finite are left out, and so are those of the
// first `warmup_tokens` and of the first tenth of the run. The fit is robust (Huber), so that
// spikes hardly move it. The interval is that of all exponents that explain the losses about as
// well.
ForecastResult ForecastLoss(const std::vector<LossPoint>& points, double warmup_tokens,
                            double tokens);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_LOSS_FORECAST_H_

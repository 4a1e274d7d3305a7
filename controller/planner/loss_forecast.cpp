#include "controller/planner/loss_forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "controller/planner/amount.h"
#include "controller/planner/figures.h"

namespace trainyard::planner {
namespace {

// The unit is standard deviations. With this value the fit is 95 % efficient for normal noise.
constexpr double kHuber = 1.345;
constexpr double kMedianToDeviation = 1.4826;
constexpr double kQuantile = 1.96;  // Two-sided 95 % quantile of the normal distribution.
constexpr int kReweightings = 8;
constexpr int kExponents = 80;
constexpr int kRefinements = 30;

// Returns the standard deviation of single losses around the curve. Estimates it from the
// differences between neighboring losses, without assuming a law.
double NoiseOf(const std::vector<LossPoint>& points) {
  std::vector<double> differences;
  for (size_t i = 1; i < points.size(); ++i) {
    differences.push_back(std::abs(points[i].loss - points[i - 1].loss));
  }
  const double floor = 1e-6 * std::abs(points.back().loss);
  return std::max(kMedianToDeviation * MedianOf(std::move(differences)) / std::sqrt(2), floor);
}

// For one exponent: the best-fitting line floor + slope * x, where x = (D / D_last)^-exponent.
struct Line {
  double exponent = 0;
  double floor = 0;
  double slope = 0;
  double cost = 0;  // Twice the sum of Huber's function over the residuals.
  // The sums of the weights, of the weighted x, and of the weighted x^2. These sums form the
  // inverse covariance matrix of floor and slope.
  double w = 0, wx = 0, wxx = 0;

  double At(double x) const { return floor + slope * x; }
  // Returns the variance of At(x) if the losses have noise with variance 1.
  double VarianceAt(double x) const {
    const double determinant = w * wxx - wx * wx;
    if (determinant <= 1e-12 * w * wxx) return 0;
    return (wxx - 2 * x * wx + x * x * w) / determinant;
  }
};

class Fit {
 public:
  explicit Fit(const std::vector<LossPoint>& points)
      : points_(points), noise_(NoiseOf(points)), x_(points.size()) {}

  double noise() const { return noise_; }

  // Returns x (see Line) for a number of tokens.
  double XOf(double tokens, double exponent) const {
    return std::pow(tokens / points_.back().tokens, -exponent);
  }

  Line For(double exponent) {
    for (size_t i = 0; i < points_.size(); ++i) x_[i] = XOf(points_[i].tokens, exponent);
    Line line;
    line.exponent = exponent;
    line.floor = std::numeric_limits<double>::quiet_NaN();  // No residuals yet.
    for (int i = 0; i < kReweightings; ++i) Solve(line);
    line.cost = 0;
    for (size_t i = 0; i < points_.size(); ++i) line.cost += Cost(points_[i].loss - line.At(x_[i]));
    return line;
  }

 private:
  double Weight(double residual) const {
    const double deviations = std::abs(residual) / noise_;
    return deviations > kHuber ? kHuber / deviations : 1;  // NaN also gives 1.
  }

  double Cost(double residual) const {
    const double deviations = std::abs(residual) / noise_;
    return deviations > kHuber ? kHuber * (2 * deviations - kHuber) : deviations * deviations;
  }

  // Makes one step of weighted least squares with the constraints floor >= 0 and slope >= 0.
  void Solve(Line& line) const {
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
    for (size_t i = 0; i < points_.size(); ++i) {
      const double x = x_[i], y = points_[i].loss, weight = Weight(y - line.At(x));
      w += weight;
      wx += weight * x;
      wy += weight * y;
      wxx += weight * x * x;
      wxy += weight * x * y;
    }
    line.w = w;
    line.wx = wx;
    line.wxx = wxx;
    line.slope = (w * wxy - wx * wy) / (w * wxx - wx * wx);
    line.floor = (wy - line.slope * wx) / w;
    if (!(line.slope > 0)) {
      line.slope = 0;
      line.floor = wy / w;
    } else if (line.floor < 0) {
      line.floor = 0;
      line.slope = wxy / wxx;
    }
  }

  const std::vector<LossPoint>& points_;
  const double noise_;
  std::vector<double> x_;
};

// Returns lines for exponents across the whole range, more closely spaced near the best exponent.
std::vector<Line> LinesOf(Fit& fit) {
  std::vector<Line> lines;
  const double ratio = std::log(kMostExponent / kLeastExponent) / (kExponents - 1);
  for (int i = 0; i < kExponents; ++i) {
    lines.push_back(fit.For(std::min(kLeastExponent * std::exp(ratio * i), kMostExponent)));
  }
  const auto by_cost = [](const Line& a, const Line& b) { return a.cost < b.cost; };
  double width = ratio / 2;
  for (int i = 0; i < kRefinements; ++i, width *= 0.7) {
    const double best = std::min_element(lines.begin(), lines.end(), by_cost)->exponent;
    for (const double step : {-width, width}) {
      lines.push_back(fit.For(std::clamp(best * std::exp(step), kLeastExponent, kMostExponent)));
    }
  }
  std::stable_sort(lines.begin(), lines.end(), by_cost);
  return lines;
}

std::vector<LossPoint> UsablePoints(const std::vector<LossPoint>& points, double warmup_tokens) {
  std::vector<LossPoint> usable;
  if (points.empty()) return usable;
  const double first = std::max(warmup_tokens, kEarlyPart * points.back().tokens);
  for (const LossPoint& point : points) {
    if (point.tokens >= first && point.tokens > 0 && std::isfinite(point.loss)) {
      usable.push_back(point);
    }
  }
  return usable;
}

ForecastResult Refused(const std::string& problem, const std::string& advice) {
  return {std::nullopt, problem, advice};
}

ForecastResult ProblemOf(const std::vector<LossPoint>& usable, double tokens) {
  const auto count = static_cast<int64_t>(usable.size());
  if (count < kLeastLossPoints) {
    return Refused(std::to_string(count) +
                       " losses were reported after the warm-up and the first tenth of the run; a "
                       "fit needs at least " +
                       std::to_string(kLeastLossPoints),
                   "train longer, or set a smaller train.log_every_steps");
  }
  const double range = usable.back().tokens / usable.front().tokens;
  if (range < kLeastTokenRange) {
    return Refused("the losses after the warm-up cover too few tokens: the last token count is " +
                       FigureText(range, 3) + " times the first; a fit needs at least " +
                       FigureText(kLeastTokenRange, 3) + " times",
                   "train longer, or set a shorter warm-up");
  }
  if (tokens < usable.back().tokens) {
    return Refused(
        "the run has seen " + FigureText(usable.back().tokens, 3) +
            " tokens, which is more than the requested " + FigureText(tokens, 3),
        "request a larger number of tokens; `trainyard metrics` shows the losses so far");
  }
  const double most = kMostTokenRatio * usable.back().tokens;
  if (tokens > most) {
    return Refused(
        AmountText(tokens) + " tokens are " + FigureText(tokens / usable.back().tokens, 3) +
            " times the tokens seen so far; no published law was validated beyond 300 times the "
            "FLOPs (arXiv 2403.08540), and a single run supports a smaller factor",
        "request at most " + AmountText(most) + " tokens, which is " +
            FigureText(kMostTokenRatio, 3) + " times the tokens seen so far, or train longer");
  }
  return {};
}

}  // namespace

double LossLaw::At(double tokens) const { return floor + scale * std::pow(tokens, -exponent); }

ForecastResult ForecastLoss(const std::vector<LossPoint>& points, double warmup_tokens,
                            double tokens) {
  const std::vector<LossPoint> usable = UsablePoints(points, warmup_tokens);
  if (ForecastResult refused = ProblemOf(usable, tokens); !refused.problem.empty()) return refused;
  Fit fit(usable);
  const std::vector<Line> lines = LinesOf(fit);
  const Line& best = lines.front();
  if (best.slope <= 0) {
    return Refused("the loss does not fall",
                   "`trainyard why` and `trainyard report` suggest what to try");
  }
  LossForecast forecast;
  forecast.noise = fit.noise();
  forecast.points = static_cast<int64_t>(usable.size());
  forecast.law = {best.floor, best.slope * std::pow(usable.back().tokens, best.exponent),
                  best.exponent};
  forecast.loss = forecast.low = forecast.high = forecast.law.At(tokens);
  // If residuals are larger than the noise, the law holds only approximately, so the interval is
  // widened.
  const double excess = std::max(1.0, best.cost / static_cast<double>(forecast.points - 3));
  for (const Line& line : lines) {
    if (line.cost - best.cost > kQuantile * kQuantile * excess) break;
    const double x = fit.XOf(tokens, line.exponent);
    const double half =
        kQuantile * forecast.noise * std::sqrt(excess * std::max(0.0, line.VarianceAt(x)));
    forecast.low = std::min(forecast.low, std::max(line.At(x) - half, 0.0));
    forecast.high = std::max(forecast.high, line.At(x) + half);
  }
  forecast.is_far = tokens > kSafeTokenRatio * usable.back().tokens;
  forecast.exponent_at_bound =
      best.exponent <= kLeastExponent * 1.001 || best.exponent >= kMostExponent * 0.999;
  return {forecast, "", ""};
}

}  // namespace trainyard::planner

#include "cli/output/loss_curve.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/output/readable.h"
#include "controller/planner/run_findings.h"

namespace trainyard::cli {
namespace {

constexpr double kStagnantBelow = 0.001;
constexpr double kSpikeDeviations = 3;
constexpr std::size_t kSpikesNamed = 5;

double MeanOf(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double DeviationOf(std::span<const double> values, double mean) {
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

std::string Recommendation(const LossCurve& curve) {
  const auto text = [](const planner::Finding& finding) {
    return absl::StrCat(finding.what, ": ", finding.right);
  };
  if (curve.not_finite > 0) return text(planner::LossIsNotFinite());
  if (curve.is_stagnant) return text(planner::LossIsStagnant());
  if (!curve.spikes.empty()) return text(planner::LossSpikes());
  return "normal";
}

}  // namespace

std::optional<LossCurve> AnalyseLossCurve(const v1::Series& losses) {
  LossCurve curve;
  std::vector<double> values;
  std::vector<int> points;  // Their positions in the series.
  for (int i = 0; i < losses.steps_size(); ++i) {
    if (i < losses.nan_counts_size()) curve.not_finite += losses.nan_counts(i);
    const double value = i < losses.mean_size() ? losses.mean(i) : losses.last(i);
    if (!std::isfinite(value)) continue;
    values.push_back(value);
    points.push_back(i);
  }
  const std::size_t window = kLossCurveWindow;
  if (values.size() < 2 * window) return std::nullopt;
  const std::span<const double> all(values);
  curve.recent_loss = MeanOf(all.last(window));
  curve.previous_loss = MeanOf(all.last(2 * window).first(window));
  curve.improvement = (curve.previous_loss - curve.recent_loss) / std::abs(curve.previous_loss);
  curve.is_stagnant = curve.improvement < kStagnantBelow;
  const double mean = MeanOf(all);
  const double limit = mean + kSpikeDeviations * DeviationOf(all, mean);
  for (const int point : points) {
    const double highest = point < losses.max_size() ? losses.max(point) : losses.last(point);
    if (highest > limit) curve.spikes.push_back(losses.steps(point));
  }
  curve.recommendation = Recommendation(curve);
  return curve;
}

std::string LossCurveText(const LossCurve& curve) {
  std::string spikes = absl::StrCat(curve.spikes.size());
  if (!curve.spikes.empty()) {
    const std::size_t shown = std::min(curve.spikes.size(), kSpikesNamed);
    const std::vector<int64_t> newest(curve.spikes.end() - static_cast<std::ptrdiff_t>(shown),
                                      curve.spikes.end());
    absl::StrAppend(&spikes, shown < curve.spikes.size() ? ", the newest at steps " : ", at steps ",
                    absl::StrJoin(newest, ", "));
  }
  std::string text = absl::StrCat(
      LabelLine("Loss", absl::StrFormat("%.4g, mean of the newest %d (%.4g before)",
                                        curve.recent_loss, kLossCurveWindow, curve.previous_loss)),
      LabelLine("Improved", absl::StrFormat("by %.2f %%", 100 * curve.improvement)),
      LabelLine("Stagnant", curve.is_stagnant ? "yes" : "no"), LabelLine("Spikes", spikes));
  if (curve.not_finite > 0) {
    absl::StrAppend(&text, LabelLine("Not finite", absl::StrCat(curve.not_finite)));
  }
  return absl::StrCat(text, LabelLine("Advice", curve.recommendation));
}

nlohmann::json LossCurveDocument(const LossCurve& curve) {
  return {{"recent_loss", curve.recent_loss},      {"previous_loss", curve.previous_loss},
          {"improvement_rate", curve.improvement}, {"is_stagnant", curve.is_stagnant},
          {"spike_count", curve.spikes.size()},    {"spike_steps", curve.spikes},
          {"not_finite", curve.not_finite},        {"recommendation", curve.recommendation}};
}

}  // namespace trainyard::cli

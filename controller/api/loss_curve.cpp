#include "controller/api/loss_curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/api/series.h"
#include "controller/planner/run_findings.h"
#include "proto/contract/telemetry_keys.h"

namespace trainyard::controller {
namespace {

constexpr double kStagnantBelow = 0.001;
constexpr double kSpikeDeviations = 3;
constexpr int kSpikesNamed = 100;
// The most that one call returns: a run of more steps is judged by groups of its steps.
constexpr int kLossBuckets = 10'000;

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

std::string Recommendation(const v1::LossCurve& curve) {
  const auto text = [](const planner::Finding& finding) {
    return absl::StrCat(finding.what, ": ", finding.right);
  };
  if (curve.not_finite() > 0) return text(planner::LossIsNotFinite());
  if (curve.is_stagnant()) return text(planner::LossIsStagnant());
  if (curve.spike_count() > 0) return text(planner::LossSpikes());
  return "normal";
}

// `points`: positions in the series of its finite values.
void AddSpikes(const v1::Series& losses, std::span<const double> values,
               const std::vector<int>& points, v1::LossCurve& curve) {
  const double mean = MeanOf(values);
  const double limit = mean + kSpikeDeviations * DeviationOf(values, mean);
  for (const int point : points) {
    const double highest = point < losses.max_size() ? losses.max(point) : losses.last(point);
    if (highest > limit) curve.add_spike_steps(losses.steps(point));
  }
  curve.set_spike_count(curve.spike_steps_size());
  auto& steps = *curve.mutable_spike_steps();
  if (steps.size() > kSpikesNamed) steps.erase(steps.begin(), steps.end() - kSpikesNamed);
}

}  // namespace

v1::GetLossReportResponse AnalyseLossCurve(const v1::Series& losses) {
  constexpr std::size_t kWindow = kLossCurveWindow;
  std::vector<double> values;
  std::vector<int> points;
  int64_t not_finite = 0;
  for (int i = 0; i < losses.steps_size(); ++i) {
    if (i < losses.nan_counts_size()) not_finite += losses.nan_counts(i);
    const double value = i < losses.mean_size() ? losses.mean(i) : losses.last(i);
    if (!std::isfinite(value)) continue;
    values.push_back(value);
    points.push_back(i);
  }
  v1::GetLossReportResponse report;
  report.set_losses(static_cast<int64_t>(values.size()));
  report.set_losses_needed(2 * kLossCurveWindow);
  if (values.size() < 2 * kWindow) return report;
  const std::span<const double> all(values);
  v1::LossCurve& curve = *report.mutable_curve();
  curve.set_recent_loss(MeanOf(all.last(kWindow)));
  curve.set_previous_loss(MeanOf(all.last(2 * kWindow).first(kWindow)));
  curve.set_improvement_rate((curve.previous_loss() - curve.recent_loss()) /
                             std::abs(curve.previous_loss()));
  curve.set_is_stagnant(curve.improvement_rate() < kStagnantBelow);
  curve.set_not_finite(not_finite);
  AddSpikes(losses, all, points, curve);
  curve.set_recommendation(Recommendation(curve));
  return report;
}

void handlers::GetLossReport(const Api& api, const v1::GetLossReportRequest& request,
                             Reply<v1::GetLossReportResponse> reply) {
  v1::GetSeriesRequest losses;
  losses.set_job(request.job());
  losses.add_keys(telemetry::kLoss);
  losses.set_buckets(kLossBuckets);
  GetSeries(api, std::move(losses),
            [reply = std::move(reply)](absl::StatusOr<v1::GetSeriesResponse> answer) {
              if (!answer.ok()) return reply(answer.status());
              const v1::Series none;
              v1::GetLossReportResponse report =
                  AnalyseLossCurve(answer->series().empty() ? none : answer->series(0));
              report.set_revision(answer->revision());
              report.set_as_of_ms(answer->as_of_ms());
              reply(std::move(report));
            });
}

}  // namespace trainyard::controller

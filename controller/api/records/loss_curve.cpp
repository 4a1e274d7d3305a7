#include "controller/api/records/loss_curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/api/jobs/named_job.h"
#include "controller/core/explain/run_advice.h"
#include "controller/planner/run_findings.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

constexpr double kStagnantBelow = 0.001;
constexpr std::size_t kSpikesNamed = 100;
// The report compares the mean losses of the last two windows. Each window covers at least
// 1/kWindowPart of the run, because in a long run the loss falls too little within a short window.
constexpr std::size_t kWindowPart = 10;
// The number of losses per read.
constexpr int64_t kLossesPerRead = 50'000;
// Limits the work of one report. The loss guard's rule compares each loss with every loss in its
// window.
constexpr int64_t kMostComparisons = 200'000'000;
constexpr int64_t kMostLosses = 2'000'000;

double MeanOf(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Analyzes the newest losses of the job. Call on a reader thread.
absl::StatusOr<v1::GetLossReportResponse> Analyse(MetricStore& metrics, int64_t job_id,
                                                  const v1::JobSpec& spec) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<AttemptRange> attempts, metrics.Attempts(job_id));
  int64_t newest = -1;
  for (const AttemptRange& attempt : attempts) newest = std::max(newest, attempt.steps.last);
  const int64_t steps_apart = std::max<int64_t>(spec.train().log_every_steps(), 1);
  const int64_t window = std::max<int64_t>(spec.guard().window(), kLossCurveWindow);
  const int64_t most = std::min(kMostComparisons / window, kMostLosses);
  LossCurveAnalysis analysis(spec);
  SeriesQuery query{.job_id = job_id, .keys = {telemetry::kLoss}};
  query.from_step = std::max<int64_t>(0, newest - most * steps_apart + 1);
  while (query.from_step <= newest) {
    query.to_step = std::max<int64_t>(query.from_step + kLossesPerRead * steps_apart - 1, 1);
    TRAINYARD_ASSIGN_OR_RETURN(const std::vector<v1::Series> losses, metrics.Read(query));
    for (const v1::Series& part : losses) analysis.Add(part);
    query.from_step = query.to_step + 1;
  }
  return analysis.Report();
}

}  // namespace

void LossCurveAnalysis::Add(const v1::Series& losses) {
  for (int i = 0; i < losses.steps_size(); ++i) {
    const int64_t step = losses.steps(i);
    const double loss = losses.last(i);
    if (first_step_ == 0) first_step_ = step;
    if (std::isfinite(loss)) {
      finite_.push_back(loss);
    } else {
      ++not_finite_;
    }
    // The series merges all attempts, so it is treated as one run that starts at its first step.
    const auto found = watch_.Add(spec_.guard(), /*attempt=*/1, /*resume_step=*/-1, step, loss);
    if (found.has_value() && found->trouble == LossProblem::kSpike) spikes_.push_back(step);
  }
}

void LossCurveAnalysis::AddMeans(v1::LossCurve& curve) const {
  const std::size_t window = std::max<std::size_t>(kLossCurveWindow, finite_.size() / kWindowPart);
  const std::span<const double> all(finite_);
  curve.set_window(static_cast<int64_t>(window));
  curve.set_recent_loss(MeanOf(all.last(window)));
  curve.set_previous_loss(MeanOf(all.last(2 * window).first(window)));
  curve.set_improvement_rate((curve.previous_loss() - curve.recent_loss()) /
                             std::abs(curve.previous_loss()));
  curve.set_is_stagnant(curve.improvement_rate() < kStagnantBelow);
}

std::string LossCurveAnalysis::Recommendation(const v1::LossCurve& curve) const {
  const auto text = [](const planner::Finding& finding) {
    return absl::StrCat(finding.what, ": ", finding.right);
  };
  const planner::SpikeSettings settings = SpikeSettingsOf(spec_);
  if (curve.not_finite() > 0) return text(planner::LossIsNotFinite(settings));
  if (curve.is_stagnant()) return text(planner::LossIsStagnant());
  if (curve.spike_count() > 0) return text(planner::LossSpikes(settings));
  return "normal";
}

v1::GetLossReportResponse LossCurveAnalysis::Report() const {
  v1::GetLossReportResponse report;
  report.set_losses(static_cast<int64_t>(finite_.size()));
  report.set_losses_needed(2 * kLossCurveWindow);
  if (report.losses() < report.losses_needed()) return report;
  v1::LossCurve& curve = *report.mutable_curve();
  AddMeans(curve);
  curve.set_not_finite(not_finite_);
  curve.set_first_step(first_step_);
  curve.set_spike_count(static_cast<int64_t>(spikes_.size()));
  const std::size_t named = std::min(spikes_.size(), kSpikesNamed);
  curve.mutable_spike_steps()->Add(spikes_.end() - static_cast<std::ptrdiff_t>(named),
                                   spikes_.end());
  curve.set_recommendation(Recommendation(curve));
  return report;
}

void handlers::GetLossReport(const Api& api, const Principal& /*principal*/,
                             const v1::GetLossReportRequest& request,
                             Reply<v1::GetLossReportResponse> reply) {
  ReadJob(api, request.job(),
          [&api, reply = std::move(reply)](const auto& entry, const ClusterView& view) {
            if (!entry.ok()) return reply(entry.status());
            const v1::Job& job = (*entry)->job;
            const bool queued = api.readers.TryPost(
                [&api, reply, job_id = job.id(), spec = std::make_shared<v1::JobSpec>(job.spec()),
                 now = view.now, revision = view.revision] {
                  auto report = Analyse(api.metrics, job_id, *spec);
                  if (report.ok()) {
                    report->set_revision(revision);
                    report->set_as_of_ms(now);
                  }
                  reply(std::move(report));
                });
            if (!queued) reply(ReaderPool::Busy());
          });
}

}  // namespace trainyard::controller

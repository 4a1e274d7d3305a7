// Analyzes the losses of a run: whether the loss still falls, and at which steps it spiked.
#ifndef TRAINYARD_CONTROLLER_API_RECORDS_LOSS_CURVE_H_
#define TRAINYARD_CONTROLLER_API_RECORDS_LOSS_CURVE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "controller/api/context/api.h"
#include "controller/core/observations/loss_watch.h"
#include "trainyard/v1/job_spec.pb.h"
#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::controller {

// The minimum number of losses in each of the two windows whose means are compared.
inline constexpr int kLossCurveWindow = 100;

// Judges the losses of a run by the rule of its loss guard. Has no side effects.
class LossCurveAnalysis {
 public:
  explicit LossCurveAnalysis(const v1::JobSpec& spec) : spec_(spec) {}

  // Adds individual losses, not averaged buckets. Steps must be later than all steps added before.
  void Add(const v1::Series& losses);

  // The report contains a curve only after at least 2 * kLossCurveWindow finite losses were added.
  v1::GetLossReportResponse Report() const;

 private:
  void AddMeans(v1::LossCurve& curve) const;
  std::string Recommendation(const v1::LossCurve& curve) const;

  const v1::JobSpec& spec_;
  LossWatch watch_;
  std::vector<double> finite_;
  std::vector<int64_t> spikes_;  // Steps of spikes.
  int64_t not_finite_ = 0;
  int64_t first_step_ = 0;
};

namespace handlers {

void GetLossReport(const Api& api, const Principal& principal,
                   const v1::GetLossReportRequest& request, Reply<v1::GetLossReportResponse> reply);

}  // namespace handlers

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_RECORDS_LOSS_CURVE_H_

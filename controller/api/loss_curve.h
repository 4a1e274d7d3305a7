// Analysis of the losses of a run: does it still improve, and where did it spike.
#ifndef TRAINYARD_CONTROLLER_API_LOSS_CURVE_H_
#define TRAINYARD_CONTROLLER_API_LOSS_CURVE_H_

#include "controller/api/api.h"
#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::controller {

// Losses that the newest and the earlier mean are taken of.
inline constexpr int kLossCurveWindow = 100;

// Losses and, where there are two windows of finite ones, the analysis. A point that stands for
// several losses counts as one with their mean, and spikes where their greatest does. Pure.
v1::GetLossReportResponse AnalyseLossCurve(const v1::Series& losses);

namespace handlers {

void GetLossReport(const Api& api, const v1::GetLossReportRequest& request,
                   Reply<v1::GetLossReportResponse> reply);

}  // namespace handlers

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_LOSS_CURVE_H_

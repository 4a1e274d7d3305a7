// Text for the analysis of a loss curve.
#ifndef TRAINYARD_CLI_OUTPUT_JOBS_LOSS_CURVE_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_JOBS_LOSS_CURVE_VIEW_H_

#include <string>

#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::cli {

std::string LossCurveText(const v1::LossCurve& curve);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_JOBS_LOSS_CURVE_VIEW_H_

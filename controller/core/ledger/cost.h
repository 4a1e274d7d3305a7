// GPU time and its cost. Has no side effects.
#ifndef TRAINYARD_CONTROLLER_CORE_LEDGER_COST_H_
#define TRAINYARD_CONTROLLER_CORE_LEDGER_COST_H_

#include <optional>

#include "controller/core/support/gpu_price.h"
#include "trainyard/v1/job_spec.pb.h"
#include "trainyard/v1/ledger.pb.h"

namespace trainyard::controller {

// Returns true if slots of this kind count as GPUs. An unspecified kind does, because GPUs are the
// default of job files.
bool CountsAsGpu(v1::DeviceKind device);

// Returns nullopt if there is no price.
std::optional<v1::Cost> CostOf(double gpu_seconds, const GpuPrice& price);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_LEDGER_COST_H_

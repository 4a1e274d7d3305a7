// Converts a described run to the form used for planning: settings of a dense run, and the
// additional parts.
#ifndef TRAINYARD_CONTROLLER_PLANNER_DESCRIBED_CONFIG_H_
#define TRAINYARD_CONTROLLER_PLANNER_DESCRIBED_CONFIG_H_

#include <string>

#include "controller/planner/described_model.h"
#include "controller/planner/described_run.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// Key of the first missing setting required for planning, such as "seq-length"; "" if none is
// missing.
std::string MissingForPlan(const DescribedRun& run);

// GPUs per node assumed for documents.
inline constexpr int64_t kDescribedPerNode = 8;

// The resolved settings, in bf16, with the document's layout if it has one. Optimizer states are
// sharded wherever ranks share them. If no layer is dense, ffn_hidden_size is the expert width that
// a token uses; it weighs layers when they are divided into stages. Requires an empty
// MissingForPlan.
RunConfig ConfigOf(const DescribedRun& run);

// The additional parts, with the experts' width filled in.
DescribedParts PartsOf(const DescribedRun& run);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_DESCRIBED_CONFIG_H_

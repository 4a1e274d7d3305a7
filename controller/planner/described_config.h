// A described run in the form that is planned: settings of a dense run, and the parts beside them.
#ifndef TRAINYARD_CONTROLLER_PLANNER_DESCRIBED_CONFIG_H_
#define TRAINYARD_CONTROLLER_PLANNER_DESCRIBED_CONFIG_H_

#include <string>

#include "controller/planner/described_model.h"
#include "controller/planner/described_run.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// Key of the first setting without which nothing can be planned, such as "seq-length"; else "".
std::string MissingForPlan(const DescribedRun& run);

// GPUs of a node in documents.
inline constexpr int64_t kDescribedPerNode = 8;

// Resolved, in bf16, with the document's layout where it has one; optimizer states are sharded
// wherever ranks share them. Where no layer is dense, ffn_hidden_size is what a token takes of the
// experts, which the cut into stages weighs layers by. Nothing is missing for a plan.
RunConfig ConfigOf(const DescribedRun& run);

// Experts have their width.
DescribedParts PartsOf(const DescribedRun& run);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_DESCRIBED_CONFIG_H_

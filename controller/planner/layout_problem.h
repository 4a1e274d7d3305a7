// Explains why a search found no layout, and how to fix it.
#ifndef TRAINYARD_CONTROLLER_PLANNER_LAYOUT_PROBLEM_H_
#define TRAINYARD_CONTROLLER_PLANNER_LAYOUT_PROBLEM_H_

#include <cstdint>
#include <optional>
#include <string>

#include "controller/planner/cluster.h"
#include "controller/planner/layout_search.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

struct LayoutProblem {
  std::string message;                  // One sentence that states how much memory is missing.
  std::string advice;                   // One sentence.
  std::optional<int64_t> fewest_nodes;  // The smallest cluster on which some layout fits.
};

// Returns the reason and the fix if the device does not support the run's precision. Otherwise
// returns "".
std::string PrecisionProblem(const RunConfig& config, const Cluster& cluster);

// `search` must be the result of SearchLayouts for this run and cluster, and must have no best
// layout.
LayoutProblem ProblemOf(const LayoutSearch& search, const RunConfig& config,
                        const Cluster& cluster);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_LAYOUT_PROBLEM_H_

// Why a search found no layout, and how to fix it.
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
  std::string message;                  // One sentence, with the missing memory.
  std::string advice;                   // One sentence.
  std::optional<int64_t> fewest_nodes;  // Smallest cluster on which some layout fits.
};

// "" if the device supports the run's arithmetic; otherwise the reason and the fix.
std::string PrecisionProblem(const RunConfig& config, const Cluster& cluster);

// `search` must be the result of SearchLayouts for the same run and cluster, without a best layout.
LayoutProblem ProblemOf(const LayoutSearch& search, const RunConfig& config,
                        const Cluster& cluster);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_LAYOUT_PROBLEM_H_

// Why a search found no layout, and what would help.
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
  std::string message;                  // One sentence with the memory that is missing.
  std::string advice;                   // One sentence.
  std::optional<int64_t> fewest_nodes;  // On which some layout fits.
};

// "" when the device can do the run's arithmetic, else why not and what to change.
std::string PrecisionProblem(const RunConfig& config, const Cluster& cluster,
                             const DescribedParts& parts = {});

// `search` is the result of SearchLayouts on the same run and cluster and has no best layout.
LayoutProblem ProblemOf(const LayoutSearch& search, const RunConfig& config, const Cluster& cluster,
                        const DescribedParts& parts = {});

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_LAYOUT_PROBLEM_H_

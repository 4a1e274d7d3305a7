// A planned layout as text and as a document.
#ifndef TRAINYARD_CLI_OUTPUT_PLAN_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_PLAN_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/planner/cluster.h"
#include "controller/planner/layout_search.h"
#include "nlohmann/json.hpp"
#include "proto/contract/run_config.h"

namespace trainyard::cli {

// The answer to `plan --device`. Without a layout in `search`, `problem` says why.
struct LayoutPlan {
  RunConfig config;  // Resolved; its layout is the best one, where there is one.
  planner::Cluster cluster;
  planner::LayoutSearch search;
  std::string problem;
  std::optional<int64_t> fewest_nodes;  // On which some layout fits, where none does.
  std::vector<std::string> warnings;    // Reasons why submit would refuse the job.
};

// In sections, for a terminal. There is a layout.
std::string LayoutPlanText(const LayoutPlan& plan);

// All keys are always there; those that depend on a layout are null without one.
nlohmann::json LayoutPlanDocument(const LayoutPlan& plan);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_PLAN_VIEW_H_

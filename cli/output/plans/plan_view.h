// A planned layout as text and as a document.
#ifndef TRAINYARD_CLI_OUTPUT_PLANS_PLAN_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_PLANS_PLAN_VIEW_H_

#include <string>
#include <vector>

#include "controller/planner/answer/layout_plan.h"
#include "nlohmann/json.hpp"

namespace trainyard::cli {

// A labeled part of a sum.
struct PlanPart {
  const char* label;
  double value;
};

// Includes parts of 0 seconds.
std::vector<PlanPart> PartsOfStep(const planner::StepTime& step);

// The output of `plan --device` for a terminal, in sections. The plan must have a layout.
std::string LayoutPlanText(const planner::LayoutPlan& plan);

// Returns a PlanLayoutResponse with all keys. Without a layout, keys that depend on the layout are
// null or empty.
nlohmann::json LayoutPlanDocument(const planner::LayoutPlan& plan);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_PLANS_PLAN_VIEW_H_

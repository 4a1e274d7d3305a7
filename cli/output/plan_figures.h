// Figures of the planning commands as SVG.
#ifndef TRAINYARD_CLI_OUTPUT_PLAN_FIGURES_H_
#define TRAINYARD_CLI_OUTPUT_PLAN_FIGURES_H_

#include <string>

#include "controller/planner/answer/layout_plan.h"
#include "controller/planner/run_cost.h"

namespace trainyard::cli {

// Step time by part, in seconds, for the plan's best layout, which must exist.
std::string StepTimeSvg(const planner::LayoutPlan& plan);

// Loss by FLOPs: the lowest for each budget, and for models of fixed sizes around the best one for
// `flops`, which is marked.
std::string ScalingSvg(double flops);

// Fraction of time spent on useful steps, by checkpoint interval. Marks the best interval, and the
// chosen one if it differs.
std::string GoodputSvg(double gpus, const planner::Reliability& chosen,
                       const planner::Interruptions& interruptions);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_PLAN_FIGURES_H_

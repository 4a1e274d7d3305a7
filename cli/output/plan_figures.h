// Figures of the planning commands as SVG.
#ifndef TRAINYARD_CLI_OUTPUT_PLAN_FIGURES_H_
#define TRAINYARD_CLI_OUTPUT_PLAN_FIGURES_H_

#include <string>

#include "controller/planner/answer/layout_plan.h"
#include "controller/planner/run_cost.h"

namespace trainyard::cli {

// Draws the step time of the plan's best layout by part, in seconds. The plan must have a layout.
std::string StepTimeSvg(const planner::LayoutPlan& plan);

// Draws the loss by FLOPs: the lowest loss for each budget, and the losses of models of fixed
// sizes. The sizes are around the best size for `flops`, which is marked.
std::string ScalingSvg(double flops);

// Draws the fraction of time spent on useful steps, by checkpoint interval. Marks the best
// interval, and the chosen one if it differs.
std::string GoodputSvg(double gpus, const planner::Reliability& chosen,
                       const planner::Interruptions& interruptions);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_PLAN_FIGURES_H_

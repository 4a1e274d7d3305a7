// Figures of the planning commands as SVG.
#ifndef TRAINYARD_CLI_OUTPUT_PLANS_PLAN_FIGURES_H_
#define TRAINYARD_CLI_OUTPUT_PLANS_PLAN_FIGURES_H_

#include <string>

#include "controller/planner/answer/layout_plan.h"
#include "controller/planner/run_cost.h"

namespace trainyard::cli {

// Draws the parts of a step's time, in seconds, for the plan's best layout. The plan must have a
// layout.
std::string StepTimeSvg(const planner::LayoutPlan& plan);

// Draws loss by FLOPs: the lowest loss at each budget, and the losses of some model sizes around
// the best size for `flops`. Marks that best size.
std::string ScalingSvg(double flops);

// Draws the fraction of time spent on useful steps, by checkpoint interval. Marks the best interval
// and, if different, the chosen interval.
std::string GoodputSvg(double gpus, const planner::Reliability& chosen,
                       const planner::Interruptions& interruptions);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_PLANS_PLAN_FIGURES_H_

// Figures of the planning commands as SVG.
#ifndef TRAINYARD_CLI_OUTPUT_PLAN_FIGURES_H_
#define TRAINYARD_CLI_OUTPUT_PLAN_FIGURES_H_

#include <string>

#include "controller/planner/answer/layout_plan.h"
#include "controller/planner/run_cost.h"

namespace trainyard::cli {

// Seconds of a step by part, of the plan's best layout. There is one.
std::string StepTimeSvg(const planner::LayoutPlan& plan);

// Loss against operations: the least for each budget, and of models of fixed sizes around the best
// one for `flops`, which is marked.
std::string ScalingSvg(double flops);

// Part of the time in which steps that count are made, by the interval between checkpoints; the
// best interval is marked, and the chosen one where it is another.
std::string GoodputSvg(double gpus, const planner::Reliability& chosen,
                       const planner::Interruptions& interruptions);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_PLAN_FIGURES_H_

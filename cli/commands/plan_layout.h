// `plan --device`: the best layout of a job on a cluster that need not exist.
#ifndef TRAINYARD_CLI_COMMANDS_PLAN_LAYOUT_H_
#define TRAINYARD_CLI_COMMANDS_PLAN_LAYOUT_H_

#include "absl/status/statusor.h"
#include "cli/commands/commands.h"
#include "controller/planner/answer/layout_plan.h"

namespace trainyard::cli {

// Does not contact a controller. If no layout fits, prints an error that names what is missing and
// returns kFailed. INVALID_ARGUMENT for an unknown device or network, and for features the device
// lacks.
Outcome RunPlanLayout(const PlanOptions& options, Context& context);

// The plan of a job file or a recipe.
absl::StatusOr<planner::LayoutPlan> PlanFor(const JobFileOptions& job,
                                            const ClusterOptions& cluster,
                                            planner::LayoutChoice choice, const Context& context);

// Prints the assumptions of the plan as notes.
void PrintPlanNotes(const planner::LayoutPlan& plan, Console& console);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_PLAN_LAYOUT_H_

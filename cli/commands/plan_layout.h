// `plan --device`: the best layout of a job on a cluster that need not exist.
#ifndef TRAINYARD_CLI_COMMANDS_PLAN_LAYOUT_H_
#define TRAINYARD_CLI_COMMANDS_PLAN_LAYOUT_H_

#include "cli/commands/commands.h"
#include "cli/output/plan_view.h"
#include "proto/jobspec/loader.h"

namespace trainyard::cli {

// Asks no controller. kFailed where no layout fits, after an error that says what is missing.
// INVALID_ARGUMENT for an unknown device or network, and for what the device cannot do.
Outcome RunPlanLayout(const PlanOptions& options, const ResolvedSpec& resolved, Context& context);

// INVALID_ARGUMENT for an unknown device or network, with the known ones, too many ranks, and a
// calibration that cannot be read or is of another device.
absl::StatusOr<planner::Cluster> ClusterFor(const ClusterOptions& options, int64_t usual_nodes);

// INVALID_ARGUMENT for jobs with a command, and for arithmetic that the device lacks.
absl::Status CheckPlannable(const ResolvedSpec& resolved, const RunConfig& config,
                            const planner::Cluster& cluster);

// Sets plan.problem where the search found no layout: why there is none, and what would help.
void DescribeProblem(LayoutPlan& plan);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_PLAN_LAYOUT_H_

// `plan --device`: the best layout of a job on a cluster that need not exist.
#ifndef TRAINYARD_CLI_COMMANDS_PLAN_LAYOUT_H_
#define TRAINYARD_CLI_COMMANDS_PLAN_LAYOUT_H_

#include <optional>

#include "absl/status/statusor.h"
#include "cli/commands/commands.h"
#include "controller/planner/answer/layout_plan.h"
#include "proto/jobspec/reader.h"

namespace trainyard::cli {

// Asks no controller. kFailed where no layout fits, after an error that says what is missing.
// INVALID_ARGUMENT for an unknown device or network, and for what the device cannot do.
Outcome RunPlanLayout(const PlanOptions& options, Context& context);

// The plan of a job file, a recipe or a description. A description has settings of its own, so that
// it takes neither --set nor a command, nor kWritten.
absl::StatusOr<planner::LayoutPlan> PlanFor(const JobFileOptions& job,
                                            const ClusterOptions& cluster,
                                            planner::LayoutChoice choice, const Context& context);

// Prints the assumptions of the plan as notes.
void PrintPlanNotes(const planner::LayoutPlan& plan, Console& console);

// The text of the file where it is a description, which no job can be made from.
std::optional<JobFileText> FindDescription(const std::string& file, const Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_PLAN_LAYOUT_H_

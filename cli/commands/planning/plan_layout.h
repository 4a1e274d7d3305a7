// Plans layouts on a hypothetical cluster, for `plan --device`, `cost` and `recipe new`.
#ifndef TRAINYARD_CLI_COMMANDS_PLANNING_PLAN_LAYOUT_H_
#define TRAINYARD_CLI_COMMANDS_PLANNING_PLAN_LAYOUT_H_

#include "absl/status/statusor.h"
#include "cli/context/context.h"
#include "cli/grammar/cluster_options.h"
#include "cli/grammar/job_file_options.h"
#include "controller/planner/answer/layout_plan.h"

namespace trainyard::cli {

// Returns the plan for a job file or a recipe on the cluster.
absl::StatusOr<planner::LayoutPlan> PlanFor(const JobFileOptions& job,
                                            const ClusterOptions& cluster,
                                            planner::LayoutChoice choice, const Context& context);

// Prints each assumption of the plan as a note.
void PrintPlanNotes(const planner::LayoutPlan& plan, Console& console);

// Prints a note if the run has a setting that is for benchmarks only.
void PrintBenchmarkNote(const RunConfig& config, Console& console);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_PLANNING_PLAN_LAYOUT_H_

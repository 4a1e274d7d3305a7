#include "cli/commands/plan_layout.h"

#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/commands/cluster_options.h"
#include "cli/commands/job_file.h"
#include "cli/commands/output_file.h"
#include "cli/output/plan_figures.h"
#include "cli/output/plan_view.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// The job with the slots of the cluster, for checking its written layout.
JobFileOptions OnCluster(JobFileOptions job, const planner::ClusterRequest& cluster) {
  if (cluster.nodes > 0) job.sets.push_back(absl::StrCat("resources.nodes=", cluster.nodes));
  job.sets.push_back(absl::StrCat("resources.slots_per_node=", cluster.per_node));
  return job;
}

}  // namespace

absl::StatusOr<planner::LayoutPlan> PlanFor(const JobFileOptions& job,
                                            const ClusterOptions& cluster,
                                            planner::LayoutChoice choice, const Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const planner::ClusterRequest request, ClusterRequestOf(cluster));
  TRAINYARD_ASSIGN_OR_RETURN(
      const ResolvedSpec resolved,
      ResolveOptions(choice == planner::LayoutChoice::kWritten ? OnCluster(job, request) : job,
                     context));
  return planner::PlanLayout(resolved, request, choice);
}

void PrintPlanNotes(const planner::LayoutPlan& plan, Console& console) {
  PrintDeviceNote(plan.cluster, console);
  if (!plan.note.empty()) PrintNote(console, absl::StrCat("note: ", plan.note));
}

Outcome RunPlanLayout(const PlanOptions& options, Context& context) {
  const planner::LayoutChoice choice =
      options.layout == "written" ? planner::LayoutChoice::kWritten : planner::LayoutChoice::kBest;
  TRAINYARD_ASSIGN_OR_RETURN(const planner::LayoutPlan plan,
                             PlanFor(options.job, options.cluster, choice, context));
  PrintPlanNotes(plan, context.console);
  if (!IsTable(context.format)) {
    PrintDocument(LayoutPlanDocument(plan), plan.config.name, context.format, context.console);
  } else if (!plan.problem.has_value()) {
    *context.console.out << LayoutPlanText(plan);
  }
  if (!plan.problem.has_value()) {
    if (!options.svg.empty()) {
      TRAINYARD_RETURN_IF_ERROR(WriteOutputFile(options.svg, StepTimeSvg(plan), context.console));
    }
    return ExitCode::kOk;
  }
  PrintError(context.console, planner::ProblemText(*plan.problem));
  return ExitCode::kFailed;
}

}  // namespace trainyard::cli

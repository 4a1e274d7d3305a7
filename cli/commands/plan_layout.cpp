#include "cli/commands/plan_layout.h"

#include <ostream>

#include "cli/commands/cluster_options.h"
#include "cli/output/plan_view.h"
#include "controller/planner/answer/layout_plan.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {

Outcome RunPlanLayout(const PlanOptions& options, const ResolvedSpec& resolved, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const planner::ClusterRequest cluster, ClusterRequestOf(options.cluster));
  TRAINYARD_ASSIGN_OR_RETURN(const planner::LayoutPlan plan,
                             planner::PlanLayout(resolved, cluster));
  if (!IsTable(context.format)) {
    PrintDocument(LayoutPlanDocument(plan), plan.config.name, context.format, context.console);
  } else if (!plan.problem.has_value()) {
    *context.console.out << LayoutPlanText(plan);
  }
  if (!plan.problem.has_value()) return ExitCode::kOk;
  PrintError(context.console, planner::ProblemText(*plan.problem));
  return ExitCode::kFailed;
}

}  // namespace trainyard::cli

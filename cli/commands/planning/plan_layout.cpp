#include "cli/commands/planning/plan_layout.h"

#include "absl/strings/str_cat.h"
#include "proto/rules/benchmark_settings.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Returns the job with as many slots as the cluster has. The layout in the job file can then be
// checked on this cluster.
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
      ResolveJobFileOptions(
          choice == planner::LayoutChoice::kWritten ? OnCluster(job, request) : job, context));
  return planner::PlanLayout(resolved, request, choice);
}

void PrintPlanNotes(const planner::LayoutPlan& plan, Console& console) {
  PrintDeviceNote(plan.cluster, console);
  PrintBenchmarkNote(plan.config, console);
  if (!plan.note.empty()) PrintNote(console, absl::StrCat("note: ", plan.note));
}

void PrintBenchmarkNote(const RunConfig& config, Console& console) {
  const std::string note = BenchmarkSettingNote(config);
  if (!note.empty()) PrintNote(console, absl::StrCat("note: ", note));
}

}  // namespace trainyard::cli

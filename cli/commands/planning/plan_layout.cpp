#include "cli/commands/planning/plan_layout.h"

#include "absl/strings/str_cat.h"
#include "controller/planner/answer/described_file.h"
#include "proto/jobspec/recipe_files.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

absl::StatusOr<planner::LayoutPlan> PlanDescription(const JobFileText& file,
                                                    const JobFileOptions& job,
                                                    const planner::ClusterRequest& cluster) {
  if (!job.sets.empty() || !job.name.empty() || !job.command.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.display_name,
                     " describes a run and is no job file: it takes neither --set nor --name nor a "
                     "command; change a copy of the file"));
  }
  TRAINYARD_ASSIGN_OR_RETURN(const planner::DescribedFile described,
                             planner::ReadDescribedFile(file));
  return planner::PlanDescribed(described.run, cluster);
}

// The job with the slots of the cluster, for checking its written layout.
JobFileOptions OnCluster(JobFileOptions job, const planner::ClusterRequest& cluster) {
  if (cluster.nodes > 0) job.sets.push_back(absl::StrCat("resources.nodes=", cluster.nodes));
  job.sets.push_back(absl::StrCat("resources.slots_per_node=", cluster.per_node));
  return job;
}

}  // namespace

std::optional<JobFileText> FindDescription(const std::string& file, const Context& context) {
  const absl::StatusOr<JobFileText> text = ReadRecipe(file, context.recipe_directories);
  if (!text.ok() || !planner::IsDescribed(text->text)) return std::nullopt;
  return *text;
}

absl::StatusOr<planner::LayoutPlan> PlanFor(const JobFileOptions& job,
                                            const ClusterOptions& cluster,
                                            planner::LayoutChoice choice, const Context& context) {
  const std::optional<JobFileText> description = FindDescription(job.file, context);
  if (description.has_value() && choice == planner::LayoutChoice::kWritten) {
    return absl::InvalidArgumentError(
        absl::StrCat(description->display_name,
                     " describes a run and is no job file: only its best layout can be planned; "
                     "leave out --layout written"));
  }
  if (description.has_value()) {
    TRAINYARD_ASSIGN_OR_RETURN(const planner::ClusterRequest request, ClusterRequestOf(cluster));
    return PlanDescription(*description, job, request);
  }
  TRAINYARD_ASSIGN_OR_RETURN(const planner::ClusterRequest request, ClusterRequestOf(cluster));
  TRAINYARD_ASSIGN_OR_RETURN(
      const ResolvedSpec resolved,
      ResolveJobFileOptions(
          choice == planner::LayoutChoice::kWritten ? OnCluster(job, request) : job, context));
  return planner::PlanLayout(resolved, request, choice);
}

void PrintPlanNotes(const planner::LayoutPlan& plan, Console& console) {
  PrintDeviceNote(plan.cluster, console);
  if (!plan.note.empty()) PrintNote(console, absl::StrCat("note: ", plan.note));
}

}  // namespace trainyard::cli

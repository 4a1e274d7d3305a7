#include "controller/planner/answer/layout_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/jobspec/rules.h"
#include "proto/memory/memory_advice.h"
#include "proto/rules/run_rules.h"
#include "proto/support/job_kind.h"
#include "proto/support/status_macros.h"

namespace trainyard::planner {
namespace {

absl::Status CheckPlannable(const ResolvedSpec& resolved, const LayoutPlan& plan) {
  if (!RunsOurTrainer(resolved.spec)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a layout can be planned only for trainyard-trainer, but this job ",
        ProgramRulesOf(resolved.spec).text, "; to see the job's settings, plan without a device"));
  }
  const std::string problem = PrecisionProblem(plan.config, plan.cluster);
  return problem.empty() ? absl::OkStatus() : absl::InvalidArgumentError(problem);
}

bool SetsLayout(const ResolvedSpec& resolved) {
  if (resolved.spec.auto_layout()) return false;
  return std::ranges::any_of(resolved.origins, [](const auto& entry) {
    return entry.first.starts_with("layout.") && entry.second != kDerivedOrigin;
  });
}

// Returns the job's configuration for the plan's cluster. Settings that depend on the number of
// ranks are derived again.
RunConfig ConfigOnCluster(const ResolvedSpec& resolved, const LayoutPlan& plan) {
  RunConfig config = plan.config;
  config.resources.nodes = plan.cluster.nodes;
  config.resources.slots_per_node = plan.cluster.per_node;
  const auto origin = resolved.origins.find("layout.dp");
  const bool is_derived = origin == resolved.origins.end() || origin->second == kDerivedOrigin;
  if (is_derived) config.layout.dp = 0;
  FillDerived(plan.cluster.devices(), config);
  return config;
}

WrittenLayout FindWrittenLayout(const RunConfig& config, const Cluster& cluster) {
  WrittenLayout written;
  written.planned.layout = config.layout;
  std::vector<SettingProblem> problems = FindLayoutProblems(cluster.devices(), config);
  if (problems.empty()) problems = FindTrainingProblems(config);
  if (!problems.empty()) {
    written.problem = problems.front().message;
    written.advice =
        "change the job file's `layout`, or plan for a cluster on which this layout can run";
    return written;
  }
  written.planned = PlanGivenLayout(config, cluster);
  written.is_predicted = true;
  if (FitsInto(written.planned.memory, *cluster.device)) return written;
  const auto bytes = static_cast<double>(cluster.device->rating->memory_bytes);
  written.problem =
      absl::StrCat("the layout needs ", MemoryText(written.planned.memory), ", but each ",
                   std::string(cluster.device->rating->name), " has ", GigabytesText(bytes));
  written.advice = MemoryAdviceText(config, bytes);
  return written;
}

// Applies `choice`: plans the job file's layout instead of the best layout if required. If that
// layout cannot run, adds a note.
void Choose(const RunConfig& config, LayoutChoice choice, LayoutPlan& plan) {
  if (choice == LayoutChoice::kBest) return;
  if (!plan.written->problem.empty() && choice == LayoutChoice::kWrittenIfPossible) {
    plan.note =
        absl::StrCat("the layout of the job file cannot run on ", ClusterText(plan.cluster), ": ",
                     plan.written->problem, "; the plan shows the fastest layout instead");
    return;
  }
  plan.is_written = true;
  plan.config.layout = config.layout;
  plan.problem.reset();
  if (plan.written->problem.empty()) return;
  plan.problem =
      LayoutProblem{.message = absl::StrCat("the layout of the job file cannot run on ",
                                            ClusterText(plan.cluster), ": ", plan.written->problem),
                    .advice = plan.written->advice};
}

}  // namespace

void FindLayout(LayoutPlan& plan) {
  plan.search = SearchLayouts(plan.config, plan.cluster);
  if (plan.search.best.has_value()) {
    plan.config.layout = plan.search.best->layout;
  } else {
    plan.problem = ProblemOf(plan.search, plan.config, plan.cluster);
  }
}

absl::StatusOr<LayoutPlan> PlanLayout(const ResolvedSpec& resolved, const ClusterRequest& request,
                                      LayoutChoice choice) {
  LayoutPlan plan;
  plan.config = RunConfigOf(resolved.spec);
  plan.config.resources.device = DeviceKind::kGpu;
  TRAINYARD_ASSIGN_OR_RETURN(plan.cluster, ClusterFor(request, plan.config.resources.nodes));
  TRAINYARD_RETURN_IF_ERROR(CheckPlannable(resolved, plan));
  plan.warnings = CheckLaunch(resolved.spec, resolved.origins);
  const bool sets_layout = SetsLayout(resolved);
  if (!sets_layout && choice == LayoutChoice::kWritten) {
    return absl::InvalidArgumentError(
        "the job file sets no layout; add a `layout` section, or plan the best layout");
  }
  const RunConfig config = ConfigOnCluster(resolved, plan);
  FindLayout(plan);
  if (!sets_layout) return plan;
  plan.written = FindWrittenLayout(config, plan.cluster);
  Choose(config, choice, plan);
  return plan;
}

std::string ProblemText(const LayoutProblem& problem) {
  return absl::StrCat(problem.message, "\n", problem.advice);
}

std::vector<std::pair<std::string, int64_t>> ReasonsOf(const LayoutSearch& search) {
  std::vector<std::pair<std::string, int64_t>> reasons(search.lost.begin(), search.lost.end());
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return reasons;
}

}  // namespace trainyard::planner

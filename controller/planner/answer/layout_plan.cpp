#include "controller/planner/answer/layout_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/planner/described_config.h"
#include "proto/jobspec/rules.h"
#include "proto/jobspec/run_config_of.h"
#include "proto/support/status_macros.h"

namespace trainyard::planner {
namespace {

absl::Status CheckPlannable(const ResolvedSpec& resolved, const LayoutPlan& plan) {
  if (!RunsOurTrainer(resolved.spec)) {
    return absl::InvalidArgumentError(
        "a layout can be planned for trainyard-trainer only, and this job has a `command`; leave "
        "out the device to see its settings");
  }
  const std::string problem = PrecisionProblem(plan.config, plan.cluster);
  return problem.empty() ? absl::OkStatus() : absl::InvalidArgumentError(problem);
}

}  // namespace

void FindLayout(LayoutPlan& plan) {
  plan.search = SearchLayouts(plan.config, plan.cluster, plan.parts);
  if (plan.search.best.has_value()) {
    plan.config.layout = plan.search.best->layout;
  } else {
    plan.problem = ProblemOf(plan.search, plan.config, plan.cluster, plan.parts);
  }
}

absl::StatusOr<LayoutPlan> PlanLayout(const ResolvedSpec& resolved, const ClusterRequest& request) {
  LayoutPlan plan;
  plan.config = RunConfigOf(resolved.spec);
  plan.config.resources.device = DeviceKind::kGpu;
  TRAINYARD_ASSIGN_OR_RETURN(plan.cluster, ClusterFor(request, plan.config.resources.nodes));
  TRAINYARD_RETURN_IF_ERROR(CheckPlannable(resolved, plan));
  plan.warnings = CheckLaunch(resolved.spec, resolved.origins);
  FindLayout(plan);
  return plan;
}

absl::StatusOr<LayoutPlan> PlanDescribed(const DescribedRun& run, const ClusterRequest& request) {
  if (const std::string missing = MissingForPlan(run); !missing.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("`", missing, "` is missing in the description: nothing can be planned"));
  }
  LayoutPlan plan;
  plan.config = ConfigOf(run);
  plan.parts = PartsOf(run);
  plan.is_described = true;
  TRAINYARD_ASSIGN_OR_RETURN(plan.cluster, ClusterFor(request, plan.config.resources.nodes));
  const std::string problem = PrecisionProblem(plan.config, plan.cluster, plan.parts);
  if (!problem.empty()) return absl::InvalidArgumentError(problem);
  plan.config.layout.sequence_parallel = true;
  plan.warnings = {absl::StrCat("trainyard-trainer cannot train it yet", LackingText(plan.parts),
                                "; the figures are predictions only")};
  FindLayout(plan);
  return plan;
}

std::string LackingText(const DescribedParts& parts) {
  std::vector<std::string> lacking;
  if (parts.experts.count > 0) lacking.push_back("mixtures of experts");
  if (parts.latent.key_rank > 0) lacking.push_back("latent attention");
  if (parts.is_fp8) lacking.push_back("FP8 arithmetic");
  return lacking.empty() ? "" : absl::StrCat(": it lacks ", absl::StrJoin(lacking, ", "));
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

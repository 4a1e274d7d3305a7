#include "cli/commands/plan_layout.h"

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/output/plan_view.h"
#include "cli/recipes/calibration_file.h"
#include "controller/planner/cluster.h"
#include "controller/planner/layout_problem.h"
#include "controller/planner/layout_search.h"
#include "proto/contract/limits.h"
#include "proto/jobspec/rules.h"
#include "proto/jobspec/run_config_of.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

std::string KnownDeviceNames() {
  std::vector<std::string> names;
  for (const planner::DeviceSpec& spec : planner::KnownDeviceSpecs()) {
    names.emplace_back(spec.rating->name);
  }
  return absl::StrJoin(names, ", ");
}

std::string KnownNetworkNames() {
  std::vector<std::string> names;
  for (const planner::Link& network : planner::KnownNetworks()) names.emplace_back(network.name);
  return absl::StrJoin(names, ", ");
}

}  // namespace

absl::Status CheckPlannable(const ResolvedSpec& resolved, const RunConfig& config,
                            const planner::Cluster& cluster) {
  if (!RunsOurTrainer(resolved.spec)) {
    return absl::InvalidArgumentError(
        "a layout can be planned for trainyard-trainer only, and this job has a `command`; leave "
        "out --device to see its settings");
  }
  const std::string problem = planner::PrecisionProblem(config, cluster);
  return problem.empty() ? absl::OkStatus() : absl::InvalidArgumentError(problem);
}

absl::StatusOr<planner::Cluster> ClusterFor(const ClusterOptions& options, int64_t usual_nodes) {
  planner::Cluster cluster;
  cluster.device = planner::FindDeviceSpec(options.device);
  if (cluster.device == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown device `", options.device, "`; known are ", KnownDeviceNames()));
  }
  const std::string network =
      options.network.empty() ? std::string(cluster.device->network) : options.network;
  const planner::Link* link = planner::FindNetwork(network);
  if (link == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown network `", network, "`; known are ", KnownNetworkNames()));
  }
  cluster.network = *link;
  cluster.nodes = options.nodes > 0 ? options.nodes : usual_nodes;
  cluster.per_node = options.per_node;
  if (cluster.devices() > kMaxRanks) {
    return absl::InvalidArgumentError(absl::StrCat(cluster.nodes, " nodes of ", cluster.per_node,
                                                   " are ", cluster.devices(), " ranks; at most ",
                                                   kMaxRanks, " are supported"));
  }
  TRAINYARD_RETURN_IF_ERROR(ApplyCalibration(options.calibration, cluster));
  return cluster;
}

void DescribeProblem(LayoutPlan& plan) {
  const planner::LayoutProblem problem = planner::ProblemOf(plan.search, plan.config, plan.cluster);
  plan.problem = absl::StrCat(problem.message, "\n", problem.advice);
  plan.fewest_nodes = problem.fewest_nodes;
}

Outcome RunPlanLayout(const PlanOptions& options, const ResolvedSpec& resolved, Context& context) {
  LayoutPlan plan;
  plan.config = RunConfigOf(resolved.spec);
  plan.config.resources.device = DeviceKind::kGpu;
  TRAINYARD_ASSIGN_OR_RETURN(plan.cluster,
                             ClusterFor(options.cluster, plan.config.resources.nodes));
  TRAINYARD_RETURN_IF_ERROR(CheckPlannable(resolved, plan.config, plan.cluster));
  plan.warnings = CheckLaunch(resolved.spec, resolved.origins);
  plan.search = planner::SearchLayouts(plan.config, plan.cluster);
  const bool fits = plan.search.best.has_value();
  if (fits) {
    plan.config.layout = plan.search.best->layout;
  } else {
    DescribeProblem(plan);
  }
  if (!IsTable(context.format)) {
    PrintDocument(LayoutPlanDocument(plan), plan.config.name, context.format, context.console);
  } else if (fits) {
    *context.console.out << LayoutPlanText(plan);
  }
  if (fits) return ExitCode::kOk;
  PrintError(context.console, plan.problem);
  return ExitCode::kFailed;
}

}  // namespace trainyard::cli

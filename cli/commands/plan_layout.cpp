#include "cli/commands/plan_layout.h"

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/output/plan_view.h"
#include "controller/planner/cluster.h"
#include "controller/planner/layout_search.h"
#include "controller/planner/pass_seconds.h"
#include "proto/contract/limits.h"
#include "proto/contract/memory_advice.h"
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
  if (planner::PeakFlops(config.train.precision, *cluster.device) > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("`train.precision` bf16: the ", std::string(cluster.device->rating->name),
                   " has no bf16 arithmetic; choose another --device, or --set "
                   "train.precision=fp32"));
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
  return cluster;
}

void DescribeProblem(LayoutPlan& plan) {
  const planner::Cluster& cluster = plan.cluster;
  const std::string place = ClusterText(cluster);
  if (!plan.search.leanest.has_value()) {
    std::vector<std::string> reasons;
    for (const auto& [reason, count] : plan.search.lost) {
      reasons.push_back(absl::StrCat(count, " of them: ", reason));
    }
    plan.problem =
        absl::StrCat("no layout of ", place, " keeps the rules of the job\n",
                     absl::StrJoin(reasons, "\n"), "\nchange `train.global_batch`, or --nodes");
    return;
  }
  const planner::PlannedLayout& lean = *plan.search.leanest;
  const double limit =
      static_cast<double>(cluster.device->rating->memory_bytes) / (1 + kMemoryMargin);
  const double missing = lean.memory.Total() - limit;
  plan.fewest_nodes = planner::FewestNodes(plan.config, cluster, kMaxRanks / cluster.per_node);
  const std::string advice =
      plan.fewest_nodes.has_value()
          ? absl::StrCat("the smallest cluster of such nodes that would do has ",
                         *plan.fewest_nodes, ": --nodes ", *plan.fewest_nodes)
          : absl::StrCat(
                "no number of such nodes would do; use GPUs with more memory, or make "
                "train.seq_length smaller");
  plan.problem = absl::StrCat("no layout fits into ", place, "\n", GigabytesText(missing),
                              " are missing on each GPU: the layout that needs least, ",
                              LayoutText(lean.layout), ", needs ", MemoryText(lean.memory),
                              ", and ", GigabytesText(limit), " can be planned with\n", advice);
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

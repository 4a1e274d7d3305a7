#include "cli/commands/trials/tune_slots.h"

#include "absl/strings/str_cat.h"
#include "cli/commands/trials/trial_job.h"
#include "cli/output/terminal/readable.h"
#include "controller/planner/answer/cluster_request.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {

absl::StatusOr<planner::Cluster> SlotsOfJob(const v1::JobSpec& spec, const RunConfig& config,
                                            Context& context) {
  v1::PlanJobRequest request;
  *request.mutable_spec() = spec;
  TRAINYARD_ASSIGN_OR_RETURN(const v1::PlanJobResponse plan, context.client.PlanJob(request));
  if (plan.ranks().empty())
    return absl::FailedPreconditionError(
        "the controller has no slots for this job now; `trainyard plan` shows why");
  TRAINYARD_ASSIGN_OR_RETURN(TrialCluster slots, ClusterOfRank(plan.ranks(0), config, context));
  if (slots.cluster.device == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot plan a sweep on ", TextOrNothing(OneLine(slots.model)),
        ", whose performance is unknown; `trainyard plan --device` lists the known devices"));
  }
  return slots.cluster;
}

absl::StatusOr<planner::Cluster> NamedSlots(const RunConfig& config, const std::string& device) {
  const ResourcesConfig& resources = config.resources;
  if (resources.nodes > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a sweep without daemons runs on one machine, but this job needs ",
                     resources.nodes, " nodes of ", resources.slots_per_node,
                     " slots; reduce the job to one node with --set resources.nodes=1 --set "
                     "resources.slots_per_node=N and a layout that fits"));
  }
  const bool is_cpu = resources.device == DeviceKind::kCpu;
  if (!is_cpu && device.empty()) {
    return absl::InvalidArgumentError(
        "--sweep requires the GPU type of the machine; pass the type, such as --device H200");
  }
  if (!device.empty() && is_cpu != (device == kCpuSlots)) {
    return absl::InvalidArgumentError(absl::StrCat("the job asks for ", is_cpu ? "CPUs" : "GPUs",
                                                   " (resources.device), but the sweep is for ",
                                                   device));
  }
  if (is_cpu) {
    return planner::Cluster{
        .device = &planner::CpuSlotSpec(), .nodes = 1, .per_node = resources.slots_per_node};
  }
  return planner::ClusterFor({.device = device, .nodes = 1, .per_node = resources.slots_per_node},
                             1);
}

}  // namespace trainyard::cli

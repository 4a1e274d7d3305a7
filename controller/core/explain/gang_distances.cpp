#include "controller/core/explain/gang_distances.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/schedule/gang_network.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/schedule/planned_cluster.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/nodes/node_devices.h"
#include "controller/planner/answer/distance_message.h"
#include "controller/planner/axis_distance.h"
#include "controller/planner/step_time.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/support/job_kind.h"

namespace trainyard::controller {
namespace {

// Returns the ids of the nodes that train, in the order of ranks.
std::vector<std::string> TrainingNodesOf(const v1::PlanJobResponse& response) {
  std::vector<std::string> nodes;
  for (const v1::RankPlacement& rank : response.ranks()) {
    if (rank.standby()) continue;
    if (nodes.empty() || nodes.back() != rank.node_id()) nodes.push_back(rank.node_id());
  }
  return nodes;
}

// Returns the run on `nodes` nodes. Returns nullopt if the controller has not chosen its layout.
std::optional<RunConfig> RunOn(int nodes, const v1::JobSpec& spec,
                               const v1::PlanJobResponse& response) {
  v1::Attempt attempt;
  if (spec.auto_layout()) {
    if (response.layout().nodes() != nodes) return std::nullopt;
    *attempt.mutable_layout() = response.layout();
  } else if (const auto written = WrittenLayoutOn(spec, nodes); written.has_value()) {
    *attempt.mutable_layout() = *written;
  }
  return RunConfigOf(GrantedSpec(spec, attempt));
}

bool DividesAllRanks(const LayoutConfig& layout, const planner::Cluster& cluster) {
  return layout.tp * layout.cp * layout.pp * std::max<int64_t>(layout.dp, 1) == cluster.devices();
}

}  // namespace

void AddDistances(const ClusterState& state, const v1::JobSpec& spec,
                  v1::PlanJobResponse& response) {
  const std::vector<std::string> ids = TrainingNodesOf(response);
  if (state.topology_index == nullptr || ids.size() < 2 || !RunsOurTrainer(spec)) return;
  const int count = static_cast<int>(ids.size());
  const std::optional<RunConfig> config = RunOn(count, spec, response);
  if (!config.has_value()) return;
  const GangShape shape = GangRequestOf(spec).ShapeOn(count);
  const v1::Node& first = state.nodes.at(ids.front()).node;
  PlannedCluster planned;
  if (!FillCluster(shape, DeviceOf(first, shape.kind), planned).empty()) return;
  planner::Cluster& cluster = planned.cluster;
  std::vector<std::string> names;
  for (const std::string& id : ids) names.push_back(state.nodes.at(id).node.name());
  cluster.tree = NetworkOf(*state.topology_index, names, cluster.per_node, cluster.network);
  if (cluster.tree == nullptr || !DividesAllRanks(config->layout, cluster)) return;
  for (const planner::AxisDistance& distance : planner::DistancesOf(config->layout, cluster)) {
    *response.add_axis_distances() = planner::DistanceMessage(distance);
  }
  // The rates of CPUs suffice only for comparing layouts.
  if (shape.kind != v1::DEVICE_KIND_GPU) return;
  response.set_step_seconds(planner::PredictStep(*config, cluster).Total());
}

}  // namespace trainyard::controller

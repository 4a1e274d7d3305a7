#include "controller/core/schedule/layout_choice.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/schedule/gang_network.h"
#include "controller/core/schedule/gang_order.h"
#include "controller/core/schedule/planned_cluster.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/nodes/node_groups.h"
#include "controller/core/support/text.h"
#include "controller/planner/cluster.h"
#include "controller/planner/layout_problem.h"
#include "controller/planner/layout_search.h"
#include "controller/planner/run_estimate.h"
#include "proto/jobspec/fields/auto_layout.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/jobspec/rules/elastic_size.h"
#include "proto/support/job_kind.h"

namespace trainyard::controller {
namespace {

// If fewer nodes are available than the job requests, layouts for this many different node counts
// are compared. The largest possible counts are used, because far fewer nodes are never faster.
constexpr int kSizesCompared = 3;

v1::GrantedLayout Unanswered(const LayoutQuestion& question) {
  v1::GrantedLayout granted;
  granted.set_asked_nodes(question.shape.nodes);
  granted.set_slots_per_node(question.shape.slots_per_node);
  granted.set_device(question.device);
  return granted;
}

v1::GrantedLayout NoLayout(const LayoutQuestion& question, const std::string& problem,
                           const std::string& advice) {
  v1::GrantedLayout granted = Unanswered(question);
  granted.set_problem(problem);
  granted.set_advice(advice);
  return granted;
}

v1::GrantedLayout Granted(const LayoutQuestion& question, RunConfig config,
                          const planner::Cluster& cluster, const planner::PlannedLayout& best) {
  config.layout = best.layout;
  v1::GrantedLayout granted = Unanswered(question);
  granted.set_nodes(static_cast<int32_t>(cluster.nodes));
  *granted.mutable_layout() = LayoutSpecOf(best.layout);
  granted.set_micro_batches(config.train.global_batch / (best.layout.micro_batch * best.layout.dp));
  granted.set_step_seconds(best.step.Total());
  granted.set_tokens_per_second(
      planner::EstimateOf(config, cluster, best.step.Total()).tokens_per_second);
  // Memory use on CPUs is not predicted.
  if (question.shape.kind == v1::DEVICE_KIND_GPU) {
    granted.set_memory_bytes(std::llround(best.memory.Total()));
  }
  return granted;
}

// Returns the network between the first nodes, which are as many as the cluster has. Returns
// nullptr if it is not known.
std::shared_ptr<const planner::NetworkTree> TreeOf(const LayoutNodes& nodes,
                                                   const planner::Cluster& cluster) {
  const auto count = static_cast<std::size_t>(cluster.nodes);
  if (nodes.topology == nullptr || count < 2 || nodes.names.size() < count) return nullptr;
  return NetworkOf(*nodes.topology, {nodes.names.begin(), nodes.names.begin() + cluster.nodes},
                   cluster.per_node, cluster.network);
}

// Returns the best layout on `cluster.nodes` nodes or, if there is none, on fewer nodes, down to
// fewest_nodes.
v1::GrantedLayout Search(const LayoutQuestion& question, const RunConfig& config,
                         const LayoutNodes& nodes, planner::Cluster cluster, int64_t fewest_nodes) {
  std::optional<v1::GrantedLayout> chosen;
  planner::LayoutProblem problem;
  int compared = 0;
  const int64_t most_nodes = cluster.nodes;
  for (; cluster.nodes >= fewest_nodes && compared < kSizesCompared; --cluster.nodes) {
    cluster.tree = TreeOf(nodes, cluster);
    const planner::LayoutSearch search = planner::SearchLayouts(config, cluster);
    if (search.best.has_value()) {
      ++compared;
      const bool faster = !chosen.has_value() || search.best->step.Total() < chosen->step_seconds();
      if (faster) chosen = Granted(question, config, cluster, *search.best);
    } else if (cluster.nodes == most_nodes) {
      problem = planner::ProblemOf(search, config, cluster);
    }
  }
  if (chosen.has_value()) return *chosen;
  return NoLayout(question, problem.message, problem.advice);
}

}  // namespace

std::vector<std::string> DevicesForLayouts(const ClusterState& state, const v1::JobSpec& spec,
                                           const GangShape& shape) {
  std::vector<std::string> sufficient, others;
  for (const NodeGroup& group : GroupsOf(state, spec, shape.kind)) {
    const int suitable = CountSuitable(state, group, shape);
    if (suitable == 0) continue;
    (suitable >= shape.nodes ? sufficient : others).push_back(group.device);
  }
  return sufficient.empty() ? others : sufficient;
}

const v1::GrantedLayout* FindChoice(const JobEntry& entry, const LayoutQuestion& question) {
  const GangShape& shape = question.shape;
  const GangRequest request = GangRequestOf(entry.job.spec());
  const bool is_full = shape.nodes == request.nodes;
  for (auto choice = entry.layouts.rbegin(); choice != entry.layouts.rend(); ++choice) {
    const bool same_slots =
        choice->device() == question.device && choice->slots_per_node() == shape.slots_per_node;
    const bool was_full = choice->asked_nodes() == request.nodes;
    // A full choice of an elastic job may use fewer nodes, so it answers smaller questions too.
    if (!same_slots || (is_full != was_full && !request.elastic)) continue;
    const bool answers = choice->nodes() <= shape.nodes && shape.nodes <= choice->asked_nodes();
    if (answers) return &*choice;
  }
  return nullptr;
}

const v1::GrantedLayout* NewestFullChoice(const JobEntry& entry) {
  const int nodes = GangRequestOf(entry.job.spec()).nodes;
  for (auto choice = entry.layouts.rbegin(); choice != entry.layouts.rend(); ++choice) {
    if (choice->asked_nodes() == nodes) return &*choice;
  }
  return nullptr;
}

bool HasNoLayout(const ClusterState& state, const JobEntry& entry) {
  const v1::GrantedLayout* newest = NewestFullChoice(entry);
  if (!entry.job.spec().auto_layout() || newest == nullptr) return false;
  const GangRequest request = GangRequestOf(entry.job.spec());
  const auto devices = state.nodes_by_device.find(request.kind);
  if (devices == state.nodes_by_device.end()) return newest->nodes() == 0;
  bool is_known = false;
  for (const auto& [device, nodes] : devices->second) {
    const v1::GrantedLayout* choice =
        FindChoice(entry, {entry.job.id(), request.ShapeOn(request.nodes), device});
    if (choice != nullptr && choice->nodes() > 0) return false;
    is_known |= choice != nullptr;
  }
  return is_known;
}

GangShape LeastShape(const JobEntry& entry) {
  const GangRequest request = GangRequestOf(entry.job.spec());
  GangShape shape = request.Least();
  if (!request.elastic || !request.auto_layout) return shape;
  for (const v1::GrantedLayout& choice : entry.layouts) {
    if (choice.nodes() == 0) shape.nodes = std::max(shape.nodes, choice.asked_nodes() + 1);
  }
  shape.nodes = std::min(shape.nodes, request.nodes);
  return shape;
}

std::optional<v1::GrantedLayout> WrittenLayoutOn(const v1::JobSpec& spec, int most) {
  const int nodes = LargestUsableNodes(spec, most);
  if (nodes == 0) return std::nullopt;
  v1::GrantedLayout granted;
  granted.set_asked_nodes(spec.resources().nodes());
  granted.set_nodes(nodes);
  granted.set_slots_per_node(spec.resources().slots_per_node());
  granted.set_device(KindName(spec.resources().device()));
  if (!ProgramRulesOf(spec).has_layout) return granted;
  *granted.mutable_layout() = spec.layout();
  const int64_t data_parallel = DataParallelOn(spec, nodes);
  granted.mutable_layout()->set_dp(static_cast<int32_t>(data_parallel));
  granted.set_micro_batches(spec.train().global_batch() /
                            std::max<int64_t>(1, spec.layout().micro_batch() * data_parallel));
  return granted;
}

LayoutNodes NodesFor(const ClusterState& state, const v1::JobSpec& spec,
                     const LayoutQuestion& question) {
  LayoutNodes nodes;
  if (state.topology_index == nullptr) return nodes;
  GangShape shape = question.shape;
  shape.device = question.device;
  const auto gang = PlaceOnEmptyCluster(state, shape, spec);
  if (!gang.has_value()) return nodes;
  nodes.topology = state.topology_index;
  for (const NodeSlots& node : *gang) {
    nodes.names.push_back(state.nodes.at(node.node_id).node.name());
  }
  return nodes;
}

v1::GrantedLayout ChooseLayoutFor(const v1::JobSpec& spec, const LayoutQuestion& question,
                                  const LayoutNodes& nodes) {
  const RunConfig config = RunConfigOf(spec);
  PlannedCluster planned;
  const std::string unknown = FillCluster(question.shape, question.device, planned);
  if (!unknown.empty()) {
    return NoLayout(
        question,
        absl::StrCat("no layout can be chosen for ", unknown, ", whose performance is not known"),
        "set the layout in the job file; `trainyard plan --device` lists the known devices");
  }
  const planner::Cluster& cluster = planned.cluster;
  if (const std::string problem = planner::PrecisionProblem(config, cluster); !problem.empty()) {
    return NoLayout(question, problem, "");
  }
  const GangRequest request = GangRequestOf(spec);
  const bool is_full = question.shape.nodes == request.nodes && !request.elastic;
  return Search(question, config, nodes, cluster, is_full ? request.nodes : request.min_nodes);
}

v1::JobSpec GrantedSpec(const v1::JobSpec& spec, const v1::Attempt& attempt) {
  v1::JobSpec granted = spec;
  if (!attempt.has_layout()) return granted;
  granted.clear_auto_layout();
  if (attempt.layout().has_layout()) *granted.mutable_layout() = attempt.layout().layout();
  granted.mutable_resources()->set_nodes(attempt.layout().nodes());
  granted.clear_min_nodes();
  return granted;
}

std::vector<NodeGroup> GroupsWithLayout(const JobEntry& entry, const GangShape& shape,
                                        const std::vector<NodeGroup>& groups) {
  if (!entry.job.spec().auto_layout()) return groups;
  const GangRequest request = GangRequestOf(entry.job.spec());
  const int nodes = request.elastic ? shape.nodes : request.nodes;
  std::vector<NodeGroup> with_layout;
  for (const NodeGroup& group : groups) {
    const v1::GrantedLayout* choice = FindChoice(
        entry, {entry.job.id(), {nodes, shape.slots_per_node, shape.kind}, group.device});
    if (choice == nullptr || choice->nodes() > 0) with_layout.push_back(group);
  }
  return with_layout.empty() ? groups : with_layout;
}

}  // namespace trainyard::controller

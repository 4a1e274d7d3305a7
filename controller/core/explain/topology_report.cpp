#include "controller/core/explain/topology_report.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "controller/core/health/node_health.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/nodes/topology.h"
#include "controller/core/support/text.h"

namespace trainyard::controller {
namespace {

constexpr int kMaxNamed = 100;

bool IsIdle(const v1::Node& node) {
  return std::ranges::all_of(node.slot_uses(),
                             [](const v1::SlotUse& use) { return use.job_id() == 0; });
}

void CountNode(const v1::Node& node, v1::GroupState& group) {
  group.set_nodes(group.nodes() + 1);
  if (!TakesRanks(node) || !IsHealthy(node)) return;
  group.set_open_nodes(group.open_nodes() + 1);
  if (IsIdle(node)) group.set_idle_nodes(group.idle_nodes() + 1);
}

}  // namespace

v1::GetTopologyResponse TopologyReport(const ClusterView& view) {
  v1::GetTopologyResponse response;
  response.set_revision(view.revision);
  response.set_as_of_ms(view.now);
  static const TopologyIndex kNone;
  const TopologyIndex* topology = view.state.topology_index.get();
  if (topology == nullptr) topology = &kNone;
  response.mutable_levels()->Assign(topology->levels().begin(), topology->levels().end());
  response.mutable_level_figures()->Assign(topology->level_figures().begin(),
                                           topology->level_figures().end());
  for (const TopologyIndex::Group& group : topology->groups()) {
    v1::GroupState& added = *response.add_groups();
    added.set_name(group.name);
    added.set_level(group.level);
    if (group.parent < 0) continue;
    added.set_parent(topology->groups()[static_cast<std::size_t>(group.parent)].name);
  }
  std::set<std::string> absent;
  for (const auto& [name, group] : topology->group_of_node()) absent.insert(name);
  for (const auto& [id, entry] : view.state.nodes) {
    absent.erase(entry.node.name());
    const std::vector<int>& path = TopologyPath(view.state, entry.node);
    for (const int group : path) CountNode(entry.node, *response.mutable_groups(group));
    const bool is_listed = path.empty() && response.other_nodes_size() < kMaxNamed;
    if (is_listed) response.add_other_nodes(entry.node.name());
  }
  for (const std::string& name : absent) {
    if (response.absent_nodes_size() < kMaxNamed) response.add_absent_nodes(name);
  }
  return response;
}

std::vector<std::string> DividedGangs(const ClusterState& state) {
  std::vector<std::string> warnings;
  for (const int64_t job_id : state.live_jobs) {
    const JobEntry& entry = state.jobs.at(job_id);
    const std::string& level = entry.job.spec().placement().within();
    if (level.empty() || warnings.size() == kMaxNamed) continue;
    std::set<int> groups;
    for (const std::string& id : GangNodes(*LiveAttempt(entry))) {
      const auto node = state.nodes.find(id);
      const bool is_known = node != state.nodes.end() && state.topology_index != nullptr;
      groups.insert(is_known ? state.topology_index->GroupAt(node->second.node.name(), level) : -1);
    }
    if (groups.size() == 1 && !groups.contains(-1)) continue;
    warnings.push_back(absl::StrCat(JobText(entry.job), " requires one group of the level ", level,
                                    ", but its nodes are not in one. The gang stays; its next "
                                    "attempt is placed in one group"));
  }
  return warnings;
}

}  // namespace trainyard::controller

#include "controller/core/schedule/gang_network.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace trainyard::controller {
namespace {

std::vector<planner::NetworkLevel> LevelsOf(const TopologyIndex& topology,
                                            const planner::Link& network) {
  std::vector<planner::NetworkLevel> levels = {
      {kOutsideLevel, network.bandwidth, network.latency, false}};
  for (const v1::TopologyLevel& level : topology.level_figures()) {
    const bool is_specified = level.gpu_bandwidth() > 0;
    levels.push_back({level.name(), is_specified ? level.gpu_bandwidth() : network.bandwidth,
                      level.latency_seconds() > 0 ? level.latency_seconds() : network.latency,
                      is_specified});
    planner::NetworkLevel& outside = levels.front();
    outside.bandwidth = std::min(outside.bandwidth, levels.back().bandwidth);
    outside.latency = std::max(outside.latency, levels.back().latency);
  }
  return levels;
}

}  // namespace

std::shared_ptr<const planner::NetworkTree> NetworkOf(const TopologyIndex& topology,
                                                      const std::vector<std::string>& nodes,
                                                      int64_t per_node,
                                                      const planner::Link& network) {
  planner::NetworkTreeParts parts;
  parts.levels = LevelsOf(topology, network);
  parts.per_node = per_node;
  for (const std::string& node : nodes) {
    const std::vector<int>& path = topology.PathOf(node);
    parts.group_of_node.push_back(path.empty() ? -1 : path.back());
  }
  const bool is_known =
      std::ranges::any_of(parts.group_of_node, [](int group) { return group >= 0; });
  if (!is_known) return nullptr;
  std::unordered_map<std::string, int> positions;
  for (std::size_t level = 0; level < parts.levels.size(); ++level) {
    if (level > 0) positions[parts.levels[level].name] = static_cast<int>(level);
  }
  for (const TopologyIndex::Group& group : topology.groups()) {
    parts.groups.push_back({positions.at(group.level), group.parent});
  }
  return std::make_shared<planner::NetworkTree>(std::move(parts));
}

}  // namespace trainyard::controller

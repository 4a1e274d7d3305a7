#include "controller/core/schedule/close_nodes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace trainyard::controller {
namespace {

using Nodes = std::vector<const CloseNode*>;

// Stands for the candidates that are in no smaller group.
constexpr int kNoGroup = INT32_MAX;

// The candidates by their group at a depth of the tree.
std::map<int, Nodes> GroupedAt(std::size_t depth, const Nodes& nodes) {
  std::map<int, Nodes> groups;
  for (const CloseNode* node : nodes) {
    groups[depth < node->path.size() ? node->path[depth] : kNoGroup].push_back(node);
  }
  return groups;
}

// A group and the depth of its subgroups.
struct Subtree {
  int group = kNoGroup;
  std::size_t depth = 0;
};

// Returns the group with the fewest candidates that has at least `count`, of all groups at `depth`
// and below. If a group and its only subgroup have equally many, returns the subgroup.
std::optional<Subtree> SmallestWith(std::size_t count, std::size_t depth, const Nodes& nodes) {
  // The number of candidates by depth and group.
  std::map<std::pair<std::size_t, int>, std::size_t> sizes;
  for (const CloseNode* node : nodes) {
    for (std::size_t i = depth; i < node->path.size(); ++i) ++sizes[{i, node->path[i]}];
  }
  std::optional<Subtree> best;
  std::size_t fewest = 0;
  for (const auto& [place, size] : sizes) {
    const auto& [at, group] = place;
    const bool is_deeper = best.has_value() && size == fewest && at + 1 > best->depth;
    if (size < count || (best.has_value() && size >= fewest && !is_deeper)) continue;
    best = Subtree{group, at + 1};
    fewest = size;
  }
  return best;
}

// Adds the ids of `count` nodes to `ids`. There are at least `count` nodes. `depth`: the depth of
// the largest groups to consider.
void ChooseFrom(Nodes nodes, std::size_t depth, std::size_t count, std::vector<std::string>& ids) {
  while (count > 0) {
    if (const auto smallest = SmallestWith(count, depth, nodes)) {
      return ChooseFrom(GroupedAt(smallest->depth - 1, nodes).at(smallest->group), smallest->depth,
                        count, ids);
    }
    std::map<int, Nodes> groups = GroupedAt(depth, nodes);
    const auto largest =
        std::ranges::max_element(groups, {}, [](const auto& one) { return one.second.size(); });
    const std::size_t taken = std::min(count, largest->second.size());
    for (std::size_t i = 0; i < taken; ++i) ids.push_back(largest->second[i]->id);
    count -= taken;
    const int used = largest->first;
    std::erase_if(nodes, [&](const CloseNode* node) {
      return (depth < node->path.size() ? node->path[depth] : kNoGroup) == used;
    });
  }
}

// Returns the groups that contain all kept nodes, from the largest.
std::vector<int> CommonPath(const std::vector<std::vector<int>>& kept) {
  std::vector<int> common = kept.front();
  for (const std::vector<int>& path : kept) {
    const auto [end, other] = std::ranges::mismatch(common, path);
    common.erase(end, common.end());
  }
  return common;
}

}  // namespace

std::vector<std::string> ChooseCloseNodes(const std::vector<CloseNode>& candidates,
                                          std::size_t count,
                                          const std::vector<std::vector<int>>& kept) {
  std::vector<std::string> ids;
  Nodes nodes;
  for (const CloseNode& node : candidates) nodes.push_back(&node);
  count = std::min(count, nodes.size());
  std::vector<int> common = kept.empty() ? std::vector<int>() : CommonPath(kept);
  for (; !common.empty(); common.pop_back()) {
    const std::size_t depth = common.size() - 1;
    std::map<int, Nodes> groups = GroupedAt(depth, nodes);
    const auto near = groups.find(common.back());
    if (near == groups.end() || near->second.size() < count) continue;
    ChooseFrom(near->second, common.size(), count, ids);
    return ids;
  }
  ChooseFrom(nodes, 0, count, ids);
  return ids;
}

}  // namespace trainyard::controller

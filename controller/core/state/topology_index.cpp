#include "controller/core/state/topology_index.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/jobspec/fields/node_names.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"
#include "re2/re2.h"

namespace trainyard::controller {
namespace {

absl::Status BadTopology(const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("the topology is not valid: ", why));
}

// A group with expanded names.
struct DraftGroup {
  std::string level;
  std::vector<std::string> groups;
  std::vector<std::string> nodes;
  std::string parent;
};

// The groups by name, and the order of the file.
struct Draft {
  std::map<std::string, DraftGroup> groups;
  std::vector<std::string> order;
};

absl::Status CheckTopologyName(const std::string& what, const std::string& name) {
  static const RE2 kName("[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?");
  if (RE2::FullMatch(name, kName)) return absl::OkStatus();
  return BadTopology(absl::StrCat("the name `", std::string(Utf8Prefix(name, 80)), "` of a ", what,
                                  " needs 1 to 63 letters, digits, `.`, `_` and `-`"));
}

absl::StatusOr<Draft> ReadDraft(const v1::Topology& topology) {
  if (topology.groups().size() > static_cast<int>(kMaxGroups)) {
    return BadTopology(absl::StrCat("it has ", topology.groups().size(), " groups; at most ",
                                    kMaxGroups, " are allowed"));
  }
  Draft draft;
  std::size_t nodes = 0;
  for (const v1::TopologyGroup& group : topology.groups()) {
    TRAINYARD_RETURN_IF_ERROR(CheckTopologyName("group", group.name()));
    TRAINYARD_RETURN_IF_ERROR(CheckTopologyName("level", group.level()));
    DraftGroup one{.level = group.level()};
    TRAINYARD_ASSIGN_OR_RETURN(one.groups, ExpandNodeLists(group.groups()));
    TRAINYARD_ASSIGN_OR_RETURN(one.nodes, ExpandNodeLists(group.nodes()));
    nodes += one.nodes.size();
    if (nodes > kMaxNodeNames) {
      return BadTopology(absl::StrCat("it has more than ", kMaxNodeNames, " nodes"));
    }
    if (!draft.groups.emplace(group.name(), std::move(one)).second) {
      return BadTopology(absl::StrCat("two groups are called ", group.name()));
    }
    draft.order.push_back(group.name());
  }
  return draft;
}

// Sets the parents of all groups.
absl::Status FindParents(Draft& draft) {
  for (const std::string& name : draft.order) {
    for (const std::string& below : draft.groups.at(name).groups) {
      const auto child = draft.groups.find(below);
      if (child == draft.groups.end()) {
        return BadTopology(
            absl::StrCat("the group ", name, " contains ", below, ", but no group has this name"));
      }
      if (!child->second.parent.empty()) {
        return BadTopology(absl::StrCat("the group ", below, " is in two groups, ",
                                        child->second.parent, " and ", name));
      }
      child->second.parent = name;
    }
  }
  return absl::OkStatus();
}

// Orders the levels such that each level precedes those below it. `above`: for each level, the
// levels that must precede it.
absl::StatusOr<std::vector<std::string>> OrderLevels(
    std::map<std::string, std::set<std::string>> above) {
  std::vector<std::string> ordered;
  while (!above.empty()) {
    const auto next =
        std::ranges::find_if(above, [](const auto& level) { return level.second.empty(); });
    if (next == above.end()) {
      return BadTopology(absl::StrCat("groups of the level ", above.begin()->first,
                                      " are both above and below groups of another level"));
    }
    ordered.push_back(next->first);
    above.erase(next);
    for (auto& [level, others] : above) others.erase(ordered.back());
  }
  return ordered;
}

absl::StatusOr<std::vector<std::string>> LevelsOf(const Draft& draft) {
  std::map<std::string, std::set<std::string>> above;
  for (const auto& [name, group] : draft.groups) {
    std::set<std::string>& levels = above[group.level];
    if (group.parent.empty()) continue;
    const std::string& level = draft.groups.at(group.parent).level;
    if (level == group.level) {
      return BadTopology(absl::StrCat("the group ", name, " and the group ", group.parent,
                                      " that contains it have the same level ", level));
    }
    levels.insert(level);
  }
  if (above.size() > kMaxLevels) {
    return BadTopology(
        absl::StrCat("it has ", above.size(), " levels; at most ", kMaxLevels, " are allowed"));
  }
  return OrderLevels(std::move(above));
}

// NaN is in no range.
absl::Status CheckFigures(const v1::TopologyLevel& level) {
  const double bandwidth = level.gpu_bandwidth(), latency = level.latency_seconds();
  const bool has_bandwidth =
      bandwidth == 0 || (bandwidth >= kMinLevelBandwidth && bandwidth <= kMaxLevelBandwidth);
  if (!has_bandwidth) {
    return BadTopology(absl::StrCat("the level ", level.name(), " has ", bandwidth,
                                    " bytes per second; give a value from 1e6 to 1e13"));
  }
  if (latency >= 0 && latency <= kMaxLevelLatency) return absl::OkStatus();
  return BadTopology(absl::StrCat("the level ", level.name(), " has a latency of ", latency,
                                  " s; give a value from 0 to 1"));
}

// Returns the figures of each of the levels.
absl::StatusOr<std::vector<v1::TopologyLevel>> FiguresOf(const v1::Topology& topology,
                                                         const std::vector<std::string>& levels) {
  std::vector<v1::TopologyLevel> figures(levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i) figures[i].set_name(levels[i]);
  std::set<std::string> named;
  for (const v1::TopologyLevel& level : topology.levels()) {
    TRAINYARD_RETURN_IF_ERROR(CheckTopologyName("level", level.name()));
    const auto known = std::ranges::find(levels, level.name());
    if (known == levels.end()) {
      return BadTopology(absl::StrCat("it has figures of the level ", level.name(),
                                      ", but no group has this level"));
    }
    if (!named.insert(level.name()).second) {
      return BadTopology(absl::StrCat("it has figures of the level ", level.name(), " twice"));
    }
    TRAINYARD_RETURN_IF_ERROR(CheckFigures(level));
    figures[static_cast<std::size_t>(known - levels.begin())] = level;
  }
  return figures;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const TopologyIndex>> TopologyIndex::Make(
    const v1::Topology& topology) {
  TRAINYARD_ASSIGN_OR_RETURN(Draft draft, ReadDraft(topology));
  TRAINYARD_RETURN_IF_ERROR(FindParents(draft));
  auto index = std::make_shared<TopologyIndex>();
  // Groups that wait for their place, the next one last.
  std::vector<std::pair<std::string, int>> open;
  for (auto name = draft.order.rbegin(); name != draft.order.rend(); ++name) {
    if (draft.groups.at(*name).parent.empty()) open.emplace_back(*name, -1);
  }
  while (!open.empty()) {
    const auto [name, parent] = open.back();
    open.pop_back();
    const DraftGroup& from = draft.groups.at(name);
    const int position = static_cast<int>(index->groups_.size());
    Group& group = index->groups_.emplace_back(Group{name, from.level, parent, {}});
    if (parent >= 0) group.path = index->groups_[static_cast<std::size_t>(parent)].path;
    group.path.push_back(position);
    for (const std::string& node : from.nodes) {
      const auto [found, is_new] = index->group_of_node_.emplace(node, position);
      if (is_new) continue;
      return BadTopology(absl::StrCat("the node ", node, " is in two groups, ",
                                      index->groups_[static_cast<std::size_t>(found->second)].name,
                                      " and ", name));
    }
    for (auto below = from.groups.rbegin(); below != from.groups.rend(); ++below) {
      open.emplace_back(*below, position);
    }
  }
  // A group in a cycle is below no group without a parent.
  if (index->groups_.size() < draft.order.size()) {
    for (const Group& group : index->groups_) draft.groups.erase(group.name);
    return BadTopology(absl::StrCat("the group ", draft.groups.begin()->first, " is above itself"));
  }
  TRAINYARD_ASSIGN_OR_RETURN(index->levels_, LevelsOf(draft));
  TRAINYARD_ASSIGN_OR_RETURN(index->level_figures_, FiguresOf(topology, index->levels_));
  return index;
}

const std::vector<int>& TopologyIndex::PathOf(const std::string& node_name) const {
  static const std::vector<int> kNone;
  const auto found = group_of_node_.find(node_name);
  if (found == group_of_node_.end()) return kNone;
  return groups_[static_cast<std::size_t>(found->second)].path;
}

int TopologyIndex::GroupAt(const std::string& node_name, const std::string& level) const {
  for (const int position : PathOf(node_name)) {
    if (groups_[static_cast<std::size_t>(position)].level == level) return position;
  }
  return -1;
}

bool TopologyIndex::HasLevel(const std::string& level) const {
  return std::ranges::find(levels_, level) != levels_.end();
}

}  // namespace trainyard::controller

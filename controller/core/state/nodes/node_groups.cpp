#include "controller/core/state/nodes/node_groups.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/state/nodes/host_capacity.h"
#include "controller/core/state/nodes/node_devices.h"
#include "controller/core/support/text.h"
#include "proto/jobspec/fields/node_names.h"
#include "proto/text/node_label.h"

namespace trainyard::controller {
namespace {

// Returns the expanded names. The job was checked when it was submitted, so the names are valid.
std::set<std::string> NamesIn(const google::protobuf::RepeatedPtrField<std::string>& entries) {
  const auto names = ExpandNodeLists(entries);
  if (!names.ok()) return {};
  return {names->begin(), names->end()};
}

bool HasLabel(const v1::Node& node, const std::string& key, const std::string& value) {
  if (key == kDeviceLabel) return DeviceOf(node, v1::DEVICE_KIND_GPU) == value;
  const auto found = node.labels().find(key);
  return found != node.labels().end() && found->second == value;
}

// `placement` of a job file with expanded names.
class PlacementFilter {
 public:
  explicit PlacementFilter(const v1::PlacementSpec& placement)
      : placement_(placement),
        nodes_(NamesIn(placement.nodes())),
        excluded_(NamesIn(placement.exclude())) {}

  bool Allows(const v1::Node& node) const {
    if (placement_.nodes_size() > 0 && !nodes_.contains(node.name())) return false;
    if (excluded_.contains(node.name())) return false;
    return std::ranges::all_of(placement_.labels(), [&](const auto& label) {
      return HasLabel(node, label.first, label.second);
    });
  }

  std::set<std::string> AllNames() const {
    std::set<std::string> names = nodes_;
    names.insert(excluded_.begin(), excluded_.end());
    return names;
  }

 private:
  const v1::PlacementSpec& placement_;
  const std::set<std::string> nodes_;
  const std::set<std::string> excluded_;
};

bool IsRestricted(const v1::JobSpec& spec) {
  const v1::PlacementSpec& placement = spec.placement();
  return placement.nodes_size() > 0 || placement.exclude_size() > 0 ||
         placement.labels_size() > 0 || !placement.within().empty();
}

// Divides a group by the groups of a level of the topology. Nodes outside of these are left out.
void AddGroupsOfLevel(const ClusterState& state, const NodeGroup& whole, const std::string& level,
                      std::vector<NodeGroup>& groups) {
  if (state.topology_index == nullptr) return;
  std::map<int, NodeGroup> parts;
  for (const std::string& id : whole.nodes) {
    const int position = state.topology_index->GroupAt(state.nodes.at(id).node.name(), level);
    if (position < 0) continue;
    NodeGroup& part = parts[position];
    part.nodes.insert(part.nodes.end(), id);
  }
  for (auto& [position, part] : parts) {
    part.device = whole.device;
    part.name = state.topology_index->groups()[static_cast<std::size_t>(position)].name;
    groups.push_back(std::move(part));
  }
}

}  // namespace

std::vector<NodeGroup> GroupsOf(const ClusterState& state, const v1::JobSpec& spec,
                                v1::DeviceKind kind) {
  const auto devices = state.nodes_by_device.find(kind);
  const bool has_slots = devices != state.nodes_by_device.end() && !devices->second.empty();
  const bool has_kinds = has_slots && devices->second.size() > 1;
  if (!has_slots || (!has_kinds && !IsRestricted(spec))) {
    return {{.device = has_slots ? devices->second.begin()->first : "", .has_all = true}};
  }
  std::optional<PlacementFilter> filter;
  if (IsRestricted(spec)) filter.emplace(spec.placement());
  std::vector<NodeGroup> groups;
  for (const auto& [device, ids] : devices->second) {
    NodeGroup& group = groups.emplace_back(NodeGroup{.device = device});
    for (const std::string& id : ids) {
      const bool allowed = !filter.has_value() || filter->Allows(state.nodes.at(id).node);
      if (allowed) group.nodes.insert(group.nodes.end(), id);
    }
  }
  std::ranges::stable_sort(groups, std::ranges::greater(),
                           [](const NodeGroup& group) { return group.nodes.size(); });
  const std::string& level = spec.placement().within();
  if (level.empty()) return groups;
  std::vector<NodeGroup> of_level;
  for (const NodeGroup& group : groups) AddGroupsOfLevel(state, group, level, of_level);
  if (of_level.empty()) of_level.emplace_back();
  return of_level;
}

std::string PlacementKey(const v1::JobSpec& spec) {
  if (!IsRestricted(spec)) return "";
  const v1::PlacementSpec& placement = spec.placement();
  const std::map<std::string, std::string> labels(placement.labels().begin(),
                                                  placement.labels().end());
  return absl::StrCat(
      absl::StrJoin(placement.nodes(), ","), "\n", absl::StrJoin(placement.exclude(), ","), "\n",
      absl::StrJoin(labels, "\n", absl::PairFormatter("=")), "\n", placement.within());
}

bool MayUse(const v1::JobSpec& spec, const v1::Node& node) {
  return !IsRestricted(spec) || PlacementFilter(spec.placement()).Allows(node);
}

int CountSuitable(const ClusterState& state, const NodeGroup& group, const GangShape& shape) {
  const auto is_suitable = [&](const v1::Node& node) {
    return node.state() != v1::NODE_STATE_LOST && CouldHold(node, shape);
  };
  int count = 0;
  if (group.has_all) {
    for (const auto& [id, entry] : state.nodes) count += is_suitable(entry.node) ? 1 : 0;
    return count;
  }
  for (const std::string& id : group.nodes) count += is_suitable(state.nodes.at(id).node) ? 1 : 0;
  return count;
}

std::string AllowedNodesText(const ClusterState& state, const v1::JobSpec& spec,
                             v1::DeviceKind kind) {
  const GangShape any_node{.nodes = 1, .slots_per_node = 1, .kind = kind};
  int allowed = 0;
  for (const NodeGroup& group : GroupsOf(state, spec, kind)) {
    allowed += CountSuitable(state, group, any_node);
  }
  const int all = CountSuitable(state, {.has_all = true}, any_node);
  return absl::StrCat(allowed == 0 ? "none" : absl::StrCat(allowed), " of ", Counted(all, "node"));
}

std::vector<std::string> UnknownNames(const ClusterState& state, const v1::JobSpec& spec,
                                      std::size_t most) {
  if (!IsRestricted(spec)) return {};
  std::set<std::string> names = PlacementFilter(spec.placement()).AllNames();
  for (const auto& [id, entry] : state.nodes) names.erase(entry.node.name());
  std::vector<std::string> unknown(names.begin(), names.end());
  unknown.resize(std::min(unknown.size(), most));
  return unknown;
}

}  // namespace trainyard::controller

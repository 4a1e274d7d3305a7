// The topology of the cluster in a form for fast lookups.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_TOPOLOGY_INDEX_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_TOPOLOGY_INDEX_H_

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "trainyard/v1/topology.pb.h"

namespace trainyard::controller {

inline constexpr std::size_t kMaxGroups = 5'000;
inline constexpr std::size_t kMaxLevels = 8;

// Bandwidths of a level in bytes per second. 1 MB/s is below, and 10 TB/s above, any network of
// GPUs, so other values are mistakes in the unit.
inline constexpr double kMinLevelBandwidth = 1e6;
inline constexpr double kMaxLevelBandwidth = 1e13;
inline constexpr double kMaxLevelLatency = 1;  // Seconds.

// Immutable, so copies of the state share it.
class TopologyIndex {
 public:
  struct Group {
    std::string name;
    std::string level;
    // Position of the group that contains it; -1 if there is none.
    int parent = -1;
    // Positions of the groups that contain it, from the largest, and its own position.
    std::vector<int> path;
  };

  // INVALID_ARGUMENT: a group or a node has two parents, a group is above itself or does not exist,
  // the order of two levels differs between groups, a name or a figure of a level is not valid, or
  // the topology is too large.
  static absl::StatusOr<std::shared_ptr<const TopologyIndex>> Make(const v1::Topology& topology);

  bool empty() const { return groups_.empty(); }
  // Each group comes after the group that contains it, and before the groups that follow that one.
  const std::vector<Group>& groups() const { return groups_; }
  // Levels from the largest groups to the smallest.
  const std::vector<std::string>& levels() const { return levels_; }
  // The figures of each level, in the order of levels(). A missing figure is 0.
  const std::vector<v1::TopologyLevel>& level_figures() const { return level_figures_; }
  const std::unordered_map<std::string, int>& group_of_node() const { return group_of_node_; }

  // Returns the positions of the groups that contain the node of this name, from the largest. Empty
  // if the node is in no group.
  const std::vector<int>& PathOf(const std::string& node_name) const;
  // Returns the position of the group of this level that contains the node; -1 if there is none.
  int GroupAt(const std::string& node_name, const std::string& level) const;
  bool HasLevel(const std::string& level) const;

 private:
  std::vector<Group> groups_;
  std::vector<std::string> levels_;
  std::vector<v1::TopologyLevel> level_figures_;
  std::unordered_map<std::string, int> group_of_node_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_TOPOLOGY_INDEX_H_

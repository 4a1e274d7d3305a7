// The switches between the nodes of a cluster, as a tree of groups of nodes. States which links an
// axis of a layout uses. Has no side effects.
#ifndef TRAINYARD_CONTROLLER_PLANNER_NETWORK_TREE_H_
#define TRAINYARD_CONTROLLER_PLANNER_NETWORK_TREE_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::planner {

// One level of the tree, such as "spine". Two nodes, or two groups, directly below one group of
// this level communicate through its switch.
struct NetworkLevel {
  std::string name;
  // Bytes per second, per device and direction, while all devices below send to other nodes or
  // groups. In an oversubscribed network the larger levels have less than the network card.
  double bandwidth = 0;
  double latency = 0;         // Seconds per hop of a collective that crosses this level.
  bool is_specified = false;  // False if the bandwidth is that of the network.
};

// A group of nodes. Levels and groups are positions in NetworkTreeParts.
struct NetworkGroup {
  int level = 0;
  int parent = -1;  // -1: no group contains it.
};

struct NetworkTreeParts {
  // From the largest groups to the smallest. The first level stands for the links between groups
  // and nodes without a common group. A group has a level after that of its parent.
  std::vector<NetworkLevel> levels;
  std::vector<NetworkGroup> groups;  // Each after the group that contains it.
  // For each node, in the order of ranks: the smallest group that contains it; -1 for none.
  std::vector<int> group_of_node;
  int64_t per_node = 1;  // Devices per node.
};

// The links between nodes that an axis uses. Members of an axis form a ring in the order of ranks.
// All groups of the axis transfer at the same time, and the step waits for the slowest.
struct AxisRoute {
  // The level of the largest groups whose switches the axis uses; -1: it stays within nodes.
  int crossed = -1;
  // The lowest bandwidth of the network cards that are used, and the level that limits it.
  double card_bandwidth = 0;
  int card_level = 0;
  // The lowest bandwidth that a ring gets between two groups. The devices of a group share the
  // bandwidth of its uplink, and each ring that leaves the group gets an equal part.
  double ring_bandwidth = std::numeric_limits<double>::infinity();
  int ring_level = 0;
  // All-to-all: the longest time between groups, in seconds per byte that each member sends.
  double exchange_seconds = 0;
  int exchange_level = 0;
  double latency = 0;  // Seconds per hop, of the slowest level that is crossed.
};

// Immutable after PrepareAll.
class NetworkTree {
 public:
  explicit NetworkTree(NetworkTreeParts parts);

  const std::vector<NetworkLevel>& levels() const { return parts_.levels; }
  int64_t nodes() const { return static_cast<int64_t>(parts_.group_of_node.size()); }

  // Returns the links used by groups of `size` ranks that are `stride` ranks apart (PlaceOfGroup).
  // Takes time proportional to the number of ranks, unless PrepareAll was called.
  AxisRoute RouteOf(int64_t size, int64_t stride) const;

  // Computes the routes of all axes that divide the ranks. A search uses each of them often.
  void PrepareAll();

 private:
  AxisRoute FindRoute(int64_t size, int64_t stride) const;

  NetworkTreeParts parts_;
  std::vector<int> depths_;      // By group: the number of groups that contain it.
  std::vector<double> devices_;  // By group: the number of devices in it.
  std::map<std::pair<int64_t, int64_t>, AxisRoute> routes_;
};

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_NETWORK_TREE_H_

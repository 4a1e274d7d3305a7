#include "controller/planner/network_tree.h"

#include <algorithm>

namespace trainyard::planner {
namespace {

// Traffic of one axis over the uplinks of the tree.
class AxisTraffic {
 public:
  AxisTraffic(const NetworkTreeParts& parts, const std::vector<int>& depths)
      : parts_(parts),
        depths_(depths),
        rings_(parts.groups.size()),
        sent_(parts.groups.size()),
        members_(parts.groups.size()) {}

  // Adds one group of the axis. Its members are `stride` ranks apart.
  void Add(int64_t first, int64_t size, int64_t stride) {
    for (int64_t i = 0; i < size; ++i) {
      const int64_t next = first + (i + 1) % size * stride;
      AddHop(NodeOf(first + i * stride), NodeOf(next));
    }
    AddExchange(first, size, stride);
  }

  AxisRoute Route(const std::vector<double>& devices) const {
    AxisRoute route = route_;
    for (size_t group = 0; group < rings_.size(); ++group) {
      if (rings_[group] == 0) continue;
      const int level = LevelAbove(static_cast<int>(group));
      const double uplink = devices[group] * parts_.levels[static_cast<size_t>(level)].bandwidth;
      if (uplink / rings_[group] < route.ring_bandwidth) {
        route.ring_bandwidth = uplink / rings_[group];
        route.ring_level = level;
      }
      if (sent_[group] / uplink > route.exchange_seconds) {
        route.exchange_seconds = sent_[group] / uplink;
        route.exchange_level = level;
      }
    }
    return route;
  }

 private:
  int64_t NodeOf(int64_t rank) const { return rank / parts_.per_node; }
  int GroupOf(int64_t node) const { return parts_.group_of_node[static_cast<size_t>(node)]; }
  int ParentOf(int group) const { return parts_.groups[static_cast<size_t>(group)].parent; }
  int LevelOf(int group) const {
    return group < 0 ? 0 : parts_.groups[static_cast<size_t>(group)].level;
  }
  // The level whose switches connect the group to other groups.
  int LevelAbove(int group) const { return LevelOf(ParentOf(group)); }
  int DepthOf(int group) const { return group < 0 ? -1 : depths_[static_cast<size_t>(group)]; }

  int CommonGroup(int left, int right) const {
    while (left != right) {
      int& deeper = DepthOf(left) >= DepthOf(right) ? left : right;
      deeper = ParentOf(deeper);
    }
    return left;
  }

  // Adds a hop of a ring. The hop uses the uplinks of the sender's groups below the common group.
  void AddHop(int64_t from, int64_t to) {
    if (from == to) return;
    const int source = GroupOf(from);
    const int common = CommonGroup(source, GroupOf(to));
    for (int group = source; group != common; group = ParentOf(group)) {
      ++rings_[static_cast<size_t>(group)];
    }
    AddCrossing(LevelOf(source), LevelOf(common));
  }

  void AddCrossing(int card_level, int crossed) {
    const NetworkLevel& card = parts_.levels[static_cast<size_t>(card_level)];
    if (route_.crossed < 0 || card.bandwidth < route_.card_bandwidth) {
      route_.card_bandwidth = card.bandwidth;
      route_.card_level = card_level;
    }
    route_.crossed = route_.crossed < 0 ? crossed : std::min(route_.crossed, crossed);
    const double latency = parts_.levels[static_cast<size_t>(crossed)].latency;
    route_.latency = std::max(route_.latency, latency);
  }

  // In an all-to-all, a member sends an equal part of its bytes to each member. The parts for
  // members outside a group pass through the group's uplink.
  void AddExchange(int64_t first, int64_t size, int64_t stride) {
    const auto visit = [&](const auto& action) {
      for (int64_t i = 0; i < size; ++i) {
        int group = GroupOf(NodeOf(first + i * stride));
        for (; group >= 0; group = ParentOf(group)) action(static_cast<size_t>(group));
      }
    };
    visit([this](size_t group) { ++members_[group]; });
    visit([&](size_t group) { sent_[group] += 1 - members_[group] / static_cast<double>(size); });
    visit([this](size_t group) { members_[group] = 0; });
  }

  const NetworkTreeParts& parts_;
  const std::vector<int>& depths_;
  std::vector<double> rings_;    // By group: rings that leave the group.
  std::vector<double> sent_;     // By group: sent bytes, per byte that a member sends.
  std::vector<double> members_;  // By group: members of one group of the axis.
  AxisRoute route_;
};

}  // namespace

NetworkTree::NetworkTree(NetworkTreeParts parts)
    : parts_(std::move(parts)), devices_(parts_.groups.size()) {
  for (const NetworkGroup& group : parts_.groups) {
    depths_.push_back(group.parent < 0 ? 0 : depths_[static_cast<size_t>(group.parent)] + 1);
  }
  for (int group : parts_.group_of_node) {
    for (; group >= 0; group = parts_.groups[static_cast<size_t>(group)].parent) {
      devices_[static_cast<size_t>(group)] += static_cast<double>(parts_.per_node);
    }
  }
}

AxisRoute NetworkTree::RouteOf(int64_t size, int64_t stride) const {
  const auto found = routes_.find({size, stride});
  return found == routes_.end() ? FindRoute(size, stride) : found->second;
}

void NetworkTree::PrepareAll() {
  const int64_t ranks = nodes() * parts_.per_node;
  for (int64_t stride = 1; stride <= ranks; ++stride) {
    if (ranks % stride != 0) continue;
    for (int64_t size = 2; size * stride <= ranks; ++size) {
      if (ranks / stride % size == 0) routes_[{size, stride}] = FindRoute(size, stride);
    }
  }
}

// Ignores ranks at the end that form no complete group.
AxisRoute NetworkTree::FindRoute(int64_t size, int64_t stride) const {
  const int64_t ranks = nodes() * parts_.per_node, block = size * stride;
  AxisTraffic traffic(parts_, depths_);
  for (int64_t start = 0; start + block <= ranks; start += block) {
    for (int64_t offset = 0; offset < stride; ++offset) traffic.Add(start + offset, size, stride);
  }
  return traffic.Route(devices_);
}

}  // namespace trainyard::planner

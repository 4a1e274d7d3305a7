#include "tests/simulation/replay/node_pool.h"

namespace trainyard::replay {

std::optional<Allocation> NodePool::Find(int gpus) const {
  int whole = gpus / per_node_;
  const int rest = gpus % per_node_;
  Allocation allocation;
  int best = -1;  // The fullest node with room for the rest.
  const auto nodes = static_cast<int>(free_.size());
  for (int node = 0; node < nodes; ++node) {
    if (whole > 0 && free_[node] == per_node_) {
      allocation.push_back({node, per_node_});
      --whole;
    } else if (rest > 0 && free_[node] >= rest && (best < 0 || free_[node] < free_[best])) {
      best = node;
    }
  }
  if (whole > 0 || (rest > 0 && best < 0)) return std::nullopt;
  if (rest > 0) allocation.push_back({best, rest});
  return allocation;
}

bool NodePool::Fits(int gpus) const { return Find(gpus).has_value(); }

void NodePool::Take(const Allocation& allocation) {
  for (const NodeShare& share : allocation) free_[share.node] -= share.gpus;
}

void NodePool::Return(const Allocation& allocation) {
  for (const NodeShare& share : allocation) free_[share.node] += share.gpus;
}

}  // namespace trainyard::replay

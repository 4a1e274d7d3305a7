// Free GPUs of a cluster of equal nodes.
#ifndef TRAINYARD_TESTS_SIMULATION_REPLAY_NODE_POOL_H_
#define TRAINYARD_TESTS_SIMULATION_REPLAY_NODE_POOL_H_

#include <optional>
#include <vector>

namespace trainyard::replay {

// GPUs of one node that a job uses.
struct NodeShare {
  int node = 0;
  int gpus = 0;
};
using Allocation = std::vector<NodeShare>;

class NodePool {
 public:
  NodePool(int nodes, int gpus_per_node) : per_node_(gpus_per_node), free_(nodes, gpus_per_node) {}

  // Returns GPUs for a job, without taking them; nullopt if they are not free. A job of at most one
  // node's size gets GPUs of one node, the fullest on which it fits. A larger job gets whole nodes,
  // and its rest like a small job.
  std::optional<Allocation> Find(int gpus) const;
  bool Fits(int gpus) const;

  void Take(const Allocation& allocation);
  void Return(const Allocation& allocation);
  int gpus() const { return per_node_ * static_cast<int>(free_.size()); }

 private:
  const int per_node_;
  std::vector<int> free_;  // By node.
};

}  // namespace trainyard::replay

#endif  // TRAINYARD_TESTS_SIMULATION_REPLAY_NODE_POOL_H_

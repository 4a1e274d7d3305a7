// The groups in which one rank communicates: one per axis, and one of all ranks.
#ifndef TRAINYARD_TRAINER_PARALLEL_RANK_GROUPS_H_
#define TRAINYARD_TRAINER_PARALLEL_RANK_GROUPS_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "proto/contract/layout_config.h"
#include "trainer/parallel/communicator.h"
#include "trainer/parallel/mesh.h"

namespace trainyard::trainer {

// One-way streams of tensors between neighbouring pipeline stages. Each is a group of its own, so
// that no order of operations can deadlock two stages. Null if there is no neighbour.
struct StageLinks {
  std::unique_ptr<Communicator> activations_from;  // From the previous stage.
  std::unique_ptr<Communicator> activations_to;    // To the next stage.
  std::unique_ptr<Communicator> gradients_from;    // From the next stage.
  std::unique_ptr<Communicator> gradients_to;      // To the previous stage.
};

// Null is possible only for links.
struct RankGroups {
  std::unique_ptr<Communicator> world;    // Control: stop, save, loss, norm.
  std::unique_ptr<Communicator> tensor;   // tp.
  std::unique_ptr<Communicator> context;  // cp.
  // The dp * cp ranks with the same parameters and different tokens form a grid of `shard` times
  // `replica`. The ranks of `shard` are neighbours and share one copy of the state that ZeRO
  // shards. The ranks of `replica` have the same part of that state. Without hybrid sharding,
  // `shard` has all dp * cp ranks.
  std::unique_ptr<Communicator> shard;
  std::unique_ptr<Communicator> replica;
  StageLinks links;
  std::unique_ptr<Communicator> tied_embedding;  // First and last stage; or this rank only.
};

// Calls `each` for every group with more than one member.
void ForEachGroup(const RankGroups& groups, const std::function<void(Communicator&)>& each);

// From now on counts waits for each group as its axis's part of a step's time. The clock must
// outlive the use of the groups.
void CountWaits(const RankGroups& groups, StepClock& clock);

// Creates the communicator of a group. All members call it, in the same order of groups.
using ConnectGroupFunction = std::function<std::unique_ptr<Communicator>(const CommunicatorGroup&)>;

// Connects the groups of `rank`. has_tied_embedding: the model's head uses the embedding's weight.
RankGroups ConnectRankGroups(const Mesh& mesh, int64_t rank, const LayoutConfig& layout,
                             bool has_tied_embedding, const ConnectGroupFunction& connect);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_RANK_GROUPS_H_

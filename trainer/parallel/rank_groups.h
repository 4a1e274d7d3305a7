// The groups in which one rank communicates: one per axis, and one of all ranks.
#ifndef TRAINYARD_TRAINER_PARALLEL_RANK_GROUPS_H_
#define TRAINYARD_TRAINER_PARALLEL_RANK_GROUPS_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "proto/contract/layout_config.h"
#include "trainer/parallel/communicator.h"
#include "trainer/parallel/mesh.h"
#include "trainer/parallel/parameter_kind.h"

namespace trainyard::trainer {

// One-way links that carry tensors between neighboring pipeline stages. Each link is a separate
// group, so that two stages cannot deadlock by beginning their operations in different orders. A
// link is null if there is no neighbor.
struct StageLinks {
  std::unique_ptr<Communicator> activations_from;  // Link from the previous stage.
  std::unique_ptr<Communicator> activations_to;    // Link to the next stage.
  std::unique_ptr<Communicator> gradients_from;    // Link from the next stage.
  std::unique_ptr<Communicator> gradients_to;      // Link to the previous stage.
};

// All groups are set, except for links and groups of experts that are not needed.
struct RankGroups {
  std::unique_ptr<Communicator> world;    // All ranks: stop, save, loss, norm.
  std::unique_ptr<Communicator> tensor;   // tp.
  std::unique_ptr<Communicator> context;  // cp.
  // The dp * cp ranks that have equal parameters and different tokens form a grid of size `shard`
  // times `replica`. The ranks of `shard` are neighbors and divide among themselves the state that
  // ZeRO shards. The ranks of `replica` have equal parts of this state. Without hybrid sharding,
  // `shard` contains all dp * cp ranks.
  std::unique_ptr<Communicator> shard;
  std::unique_ptr<Communicator> replica;
  // etp * ep: the ranks that exchange tokens, because together they have all experts once. Null if
  // the model has no experts.
  std::unique_ptr<Communicator> expert;
  // The grid of the edp ranks with equal experts. Null if this grid equals the grid of `shard` and
  // `replica`, or if the model has no experts.
  std::unique_ptr<Communicator> expert_shard;
  std::unique_ptr<Communicator> expert_replica;
  StageLinks links;
  std::unique_ptr<Communicator> tied_embedding;  // The first and last stage, or only this rank.
  // All ranks; for snapshots of the state, beside the steps. Null if the gang keeps none.
  std::unique_ptr<Communicator> snapshots;

  // The grid of the ranks that have equal parameters of this kind.
  Communicator& ShardOf(ParameterKind kind) const;
  Communicator& ReplicaOf(ParameterKind kind) const;
};

// Calls `each` for every group of the steps with more than one member.
void ForEachGroup(const RankGroups& groups, const std::function<void(Communicator&)>& each);

// Adds all later waits for a group to the part of a step's time that belongs to the group's axis.
// `clock` must outlive the use of the groups.
void CountWaits(const RankGroups& groups, StepClock& clock);

// Creates the communicator of a group. All members must call the function, and each rank must
// create the groups in the same order.
using ConnectGroupFunction = std::function<std::unique_ptr<Communicator>(const CommunicatorGroup&)>;

// Parts of the model that need separate groups.
struct GroupedParts {
  bool has_tied_embedding = false;  // The model's head uses the embedding's weight.
  bool has_experts = false;
  bool keeps_snapshots = false;
  // CommunicatorGroup::copied_bytes of the tensor-parallel and the context-parallel ranks.
  int64_t tensor_bytes = 0;
  int64_t context_bytes = 0;
};

// Connects the groups of `rank`. All groups except the links between stages connect at the same
// time.
RankGroups ConnectRankGroups(const Mesh& mesh, int64_t rank, const LayoutConfig& layout,
                             const GroupedParts& parts, const ConnectGroupFunction& connect);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_RANK_GROUPS_H_

// The groups in which one rank communicates: one an axis, and one of all ranks.
#ifndef TRAINYARD_TRAINER_PARALLEL_RANK_GROUPS_H_
#define TRAINYARD_TRAINER_PARALLEL_RANK_GROUPS_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "proto/contract/run_config.h"
#include "trainer/parallel/communicator.h"
#include "trainer/parallel/mesh.h"

namespace trainyard::trainer {

// A one-way stream of tensors between two pipeline stages: a group of its own, so that no order
// among several streams can make two stages wait for each other. Null where there is no neighbour.
struct StageLinks {
  std::unique_ptr<Communicator> activations_from;  // The stage before.
  std::unique_ptr<Communicator> activations_to;    // The stage after.
  std::unique_ptr<Communicator> gradients_from;    // The stage after.
  std::unique_ptr<Communicator> gradients_to;      // The stage before.
};

// Never null but for links.
struct RankGroups {
  std::unique_ptr<Communicator> world;    // Control: stop, save, loss, norm.
  std::unique_ptr<Communicator> tensor;   // tp.
  std::unique_ptr<Communicator> context;  // cp.
  // The ranks with the same parameters and other tokens, dp * cp of them, are `shard` times
  // `replica`: neighbours share one copy of what ZeRO shards; ranks with the same part of it hold
  // replicas. Without hybrid sharding `shard` has all of them.
  std::unique_ptr<Communicator> shard;
  std::unique_ptr<Communicator> replica;
  StageLinks links;
  std::unique_ptr<Communicator> tied_embedding;  // The first and the last stage; or one rank.
};

// Calls `each` for every group with more than one member.
void ForEachGroup(const RankGroups& groups, const std::function<void(Communicator&)>& each);

// A step's time counts waits for each group as the part of its axis. The clock must outlive the use
// of the groups.
void CountWaits(const RankGroups& groups, StepClock& clock);

// Makes the communicator of a group: all members call it, in the same order of groups.
using ConnectGroupFunction = std::function<std::unique_ptr<Communicator>(const CommunicatorGroup&)>;

// Groups of `rank`. has_tied_embedding: the model's head uses the embedding's weight.
RankGroups ConnectRankGroups(const Mesh& mesh, int64_t rank, const LayoutConfig& layout,
                             bool has_tied_embedding, const ConnectGroupFunction& connect);

// Visits the groups with more than one member in the order in which ConnectRankGroups, with the same
// arguments, connects them: the order in which all members must connect them again.
void ForEachGroupAsConnected(const RankGroups& groups, const Mesh& mesh, int64_t rank,
                             const LayoutConfig& layout, bool has_tied_embedding,
                             const std::function<void(Communicator&)>& each);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_RANK_GROUPS_H_

// Gang placement: first come, first served; all or nothing.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_PLACEMENT_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_PLACEMENT_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/observations/root_sightings.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/state/gang_request.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Slots of one node of a gang, ordered by local rank.
struct NodeSlots {
  std::string node_id;
  std::vector<int> slots;
};

// A gang, ordered by node rank. Ranks are numbered node by node, so that a tensor-parallel group
// stays on one node. Nodes at position `training_nodes` and later are spares.
using Gang = std::vector<NodeSlots>;
std::vector<v1::RankPlacement> RanksOf(const Gang& gang, int training_nodes);

// Nodes that accept no new ranks in a pass although TakesRanks is true for them.
struct NodeLimits {
  // Nodes whose state is about to change. A recovering job with slots there waits for the change.
  std::set<std::string> changing;
  // Unhealthy nodes (node_health.h). A recovering job is placed elsewhere.
  std::set<std::string> closed;
  // The nodes of a gang that saves in the checkpoint root must share it. nullptr if nothing is
  // known about the directories that nodes see there.
  const RootSightings* roots = nullptr;
};

// Why a job is not placed.
enum class Shortage {
  kSlots,
  // Its layout has not been chosen yet.
  kLayout,
  // No rendezvous port is free at the address of its first node.
  kPort,
  // Its slots are free, but on nodes that do not share the checkpoint root.
  kSharedRoot,
  // Its slots are free, but the state of a node is about to change.
  kChangingNode,
};

// One pass over the queue. Slots assigned to a job stay taken until the pass ends. Every choice is
// deterministic: nodes with the fewest sufficient free slots first (best fit), then those with the
// highest score (quarantine.h), then by node id; lowest slots first.
class PlacementPass {
 public:
  // `state` and limits.roots must outlive the pass.
  PlacementPass(const ClusterState& state, NodeLimits limits);

  // Gang of a recovering job on the nodes that it had; nullopt if one of them is gone. A shape with
  // fewer nodes uses the first remaining nodes.
  std::optional<Gang> PlaceAgain(const JobEntry& entry, const GangShape& shape);

  // Gang of the job; nullopt if it must wait. A recovering job keeps its remaining slots, and only
  // missing nodes are replaced. It waits for a suspect node, which will soon be either ready or
  // lost.
  std::optional<Gang> Place(const JobEntry& entry, const GangShape& shape);

  // As Place, but may use slots that later jobs have reserved but cannot run on. Otherwise two
  // recovering jobs could wait for each other's slots forever.
  std::optional<Gang> PlaceOverReservations(const JobEntry& entry, const GangShape& shape);

  // Number of nodes of the shape that a recovering job could continue with: its remaining nodes
  // and, if `with_free`, other nodes with free slots for it. 0 while it waits for a suspect node.
  int CountUsable(const JobEntry& entry, const GangShape& shape, bool with_free);

  // Why Place found no gang for the job: kSlots, kSharedRoot or kChangingNode.
  Shortage ShortageOf(const JobEntry& entry, const GangShape& shape);

  // Number of nodes whose free slots at the start of the pass suffice for the shape, excluding
  // closed nodes.
  int CountFittingNodes(const GangShape& shape) const;

 private:
  // True if the pass may assign this slot to the job.
  bool IsUsable(const NodeEntry& node, int position, const JobEntry& job, bool over_reservations);
  // Slots of the node for the job, `preferred` ones first; nullopt if there are too few.
  std::optional<NodeSlots> TakeFrom(const NodeEntry& node, const JobEntry& job,
                                    const GangShape& shape, const std::vector<int>& preferred,
                                    bool over_reservations);
  // Fills `gang` with the remaining nodes of the job's last gang. False if the job must wait for a
  // suspect node.
  bool KeepGang(const JobEntry& job, const GangShape& shape,
                std::vector<std::optional<NodeSlots>>& gang);
  // First node of a bucket of state_.free_nodes from which this pass has taken no slot. The pass
  // takes the lowest ids first, so the position is stored, and used nodes are not scanned again.
  std::set<std::string>::const_iterator FirstUntouched(v1::DeviceKind kind, int free,
                                                       const std::set<std::string>& bucket);
  std::vector<std::string> PickNodes(const GangShape& shape, int count,
                                     const std::set<std::string>& not_these);
  bool FillGang(const JobEntry& job, const GangShape& shape, bool over_reservations,
                std::vector<std::optional<NodeSlots>>& gang);
  std::optional<Gang> FindGang(const JobEntry& job, const GangShape& shape, bool over_reservations);
  std::optional<Gang> PlaceGang(const JobEntry& job, const GangShape& shape,
                                bool over_reservations);
  // True if Place would find a gang with these limits.
  bool Fits(const JobEntry& job, const GangShape& shape, NodeLimits limits);
  void Take(const Gang& gang);
  int FreeNow(const NodeEntry& node, v1::DeviceKind kind) const;

  // Calls `place` for each directory that nodes share, with the other nodes barred, until it
  // returns a gang. Calls it once if the job's nodes need not share the checkpoint root.
  std::optional<Gang> InOneRoot(const JobEntry& job, const GangShape& shape,
                                const std::function<std::optional<Gang>()>& place);
  // Alternative sets of nodes to exclude. InOneRoot tries a placement once per set.
  std::vector<std::set<std::string>> BarredSets(const JobEntry& job, const GangShape& shape) const;
  int CountUsableHere(const JobEntry& entry, const GangShape& shape, bool with_free);

  // True if the node accepts ranks now, given enough free slots.
  bool IsOpen(const NodeEntry& node) const;

  const ClusterState& state_;
  NodeLimits limits_;
  // Nodes that do not share the checkpoint root of the gang being placed.
  std::set<std::string> barred_;
  // Slot positions assigned in this pass, by node.
  std::map<std::string, std::set<int>> taken_;
  // Free slots of the nodes in taken_, for which state_.free_nodes is out of date.
  std::map<v1::DeviceKind, NodesByFreeSlots> touched_;
  // By kind and free slots: position in the bucket before which every node is in taken_.
  std::map<std::pair<v1::DeviceKind, int>, std::set<std::string>::const_iterator> first_untouched_;
};

// Gang as placed if every slot were free; nullopt if the cluster is too small.
std::optional<Gang> PlaceOnEmptyCluster(const ClusterState& state, const GangShape& shape);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_PLACEMENT_H_

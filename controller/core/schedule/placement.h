// First come, first served gang placement: all or nothing.
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
#include "controller/core/state/gang_shape.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

// The slots of one node of a gang, in the order of its local ranks.
struct NodeSlots {
  std::string node_id;
  std::vector<int> slots;
};

// A gang, by node rank. Ranks are node-major, so that a tensor-parallel group stays on one node.
// Nodes from number `training_nodes` on are spares.
using Gang = std::vector<NodeSlots>;
std::vector<v1::RankPlacement> RanksOf(const Gang& gang, int training_nodes);

// Nodes that take no new ranks in a pass although TakesRanks says that they may.
struct NodeLimits {
  // Their state is about to change. A recovering job that had slots there waits for the change.
  std::set<std::string> changing;
  // Unhealthy ones (node_health.h): a recovering job is placed elsewhere.
  std::set<std::string> closed;
  // The nodes of a gang that saves in the checkpoint root must share it. Null: nothing is known of
  // what nodes see there.
  const RootSightings* roots = nullptr;
};

// One pass over the queue. Slots that it gives to a job stay taken until the pass ends. Every
// choice is deterministic: the fullest nodes that suffice (best fit), among equals those with the
// highest score (quarantine.h), then by node id; lowest slots first.
class PlacementPass {
 public:
  // `state` and limits.roots must outlive the pass.
  PlacementPass(const ClusterState& state, NodeLimits limits);

  // The gang of a recovering job on the nodes that it had; nothing when one of them is gone. A
  // shape of fewer nodes than it had takes the first of those that are left.
  std::optional<Gang> PlaceAgain(const JobEntry& entry, const GangShape& shape);

  // The gang of the job; nothing when it has to wait. A recovering job keeps its slots that are
  // still there, and only the other nodes are replaced. It waits for a suspect node, which will
  // soon be either ready or lost.
  std::optional<Gang> Place(const JobEntry& entry) {
    return Place(entry, ShapeOf(entry.job.spec()));
  }
  std::optional<Gang> Place(const JobEntry& entry, const GangShape& shape);

  // The same as Place without spare nodes, but may take slots that later jobs have reserved without
  // being able to run: else two recovering jobs could wait for each other's slots for ever.
  std::optional<Gang> PlaceOverReservations(const JobEntry& entry);

  // Nodes that a recovering job could go on with: those that it had and that are left and, with
  // `with_free`, others that could give it slots; 0 while it waits for a suspect node.
  int CountUsable(const JobEntry& entry, bool with_free);

  // Open nodes that could give this job its slots now.
  int CountFittingNodes(const GangShape& shape) const;

 private:
  // True when the pass may give this slot to the job.
  bool IsUsable(const NodeEntry& node, int position, const JobEntry& job, bool over_reservations);
  // Slots of the node for the job, `preferred` ones first; nothing when they are too few.
  std::optional<NodeSlots> TakeFrom(const NodeEntry& node, const JobEntry& job,
                                    const std::vector<int>& preferred, bool over_reservations);
  // Fills `gang` with the nodes that remain of the job's last gang. False when the job has to wait
  // for a suspect node.
  bool KeepGang(const JobEntry& job, const GangShape& shape,
                std::vector<std::optional<NodeSlots>>& gang);
  // First node of a bucket of state_.free_nodes that this pass has taken no slot from. The pass
  // takes the lowest ids first, so nodes that it has used are mostly skipped once and for all.
  std::set<std::string>::const_iterator FirstUntouched(v1::DeviceKind kind, int free,
                                                       const std::set<std::string>& bucket);
  std::vector<std::string> PickNodes(const GangShape& shape, int count,
                                     const std::set<std::string>& not_these);
  bool FillGang(const JobEntry& job, bool over_reservations,
                std::vector<std::optional<NodeSlots>>& gang);
  std::optional<Gang> PlaceGang(const JobEntry& job, const GangShape& shape,
                                bool over_reservations);
  void Take(const Gang& gang);
  int FreeNow(const NodeEntry& node, v1::DeviceKind kind) const;

  // Runs `place` for each directory that nodes share, with the nodes outside of it barred, until it
  // gives a gang; once when the job's nodes need not share the checkpoint root.
  std::optional<Gang> InOneRoot(const JobEntry& job, const GangShape& shape,
                                const std::function<std::optional<Gang>()>& place);
  // Nodes to bar, one set a try.
  std::vector<std::set<std::string>> BarredSets(const JobEntry& job, const GangShape& shape) const;
  int CountUsableHere(const JobEntry& entry, bool with_free);

  // True when the node takes ranks of the job now, if it has slots for them.
  bool IsOpen(const NodeEntry& node) const;

  const ClusterState& state_;
  NodeLimits limits_;
  // Nodes that do not share the checkpoint root of the gang that is being placed.
  std::set<std::string> barred_;
  // Slot positions given away in this pass, by node.
  std::map<std::string, std::set<int>> taken_;
  // Free slots of the nodes in taken_; state_.free_nodes is out of date for them.
  std::map<v1::DeviceKind, NodesByFreeSlots> touched_;
  // By kind and free slots: everything before it is in taken_.
  std::map<std::pair<v1::DeviceKind, int>, std::set<std::string>::const_iterator> first_untouched_;
};

// The gang as it would be placed if every slot were free; nothing when the cluster is too small.
std::optional<Gang> PlaceOnEmptyCluster(const ClusterState& state, const GangShape& shape);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_PLACEMENT_H_

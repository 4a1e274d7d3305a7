// Places gangs: first come, first served, and all ranks of a gang or none.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_PLACEMENT_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_PLACEMENT_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "controller/core/observations/root_sightings.h"
#include "controller/core/schedule/gang_order.h"
#include "controller/core/schedule/host_use.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/state/nodes/node_groups.h"
#include "controller/core/state/nodes/node_reservations.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Nodes that accept no new ranks in a pass, although TakesRanks returns true for them.
struct NodeLimits {
  // Nodes about to change state. A recovering job with slots on such a node waits for the change.
  std::set<std::string> changing;
  // Unhealthy nodes (node_health.h). A recovering job is placed elsewhere.
  std::set<std::string> closed;
  // The nodes of a gang that saves in the checkpoint root must share the root. nullptr if no
  // directory at the root's path is known.
  const RootSightings* roots = nullptr;
  // The time of the pass, for reservations of nodes.
  Timestamp now = 0;
};

// The reason why a job is not placed.
enum class Shortage {
  kSlots,
  // The job's layout has not been chosen yet.
  kLayout,
  // No rendezvous port is free at the address of the job's first node.
  kPort,
  // Enough slots are free, but on nodes that do not share the checkpoint root.
  kSharedRoot,
  // Enough slots are free, but the state of a node is about to change.
  kChangingNode,
};

// The number of nodes that fit, and the group of the topology that contains them. The name is empty
// if the nodes need not be in one group.
struct FittingNodes {
  int count = 0;
  std::string group = {};
};

// One pass over the queue. Slots that are assigned to a job stay assigned until the pass ends. All
// choices are deterministic. Nodes are tried in this order: fewest sufficient free slots first
// (best fit), then highest score (quarantine.h), then node id. On a node, the lowest slots are used
// first.
class PlacementPass {
 public:
  // `state` and limits.roots must outlive the pass.
  PlacementPass(const ClusterState& state, NodeLimits limits);

  // Places a recovering job on nodes of its last gang only. Returns nullopt if fewer than
  // shape.nodes of these nodes are usable, or if the job must wait for a suspect node. If more are
  // usable, the first shape.nodes of them are used.
  std::optional<Gang> PlaceAgain(const JobEntry& entry, const GangShape& shape);

  // Places the job. Returns nullopt if the job must wait. A recovering job keeps its remaining
  // slots, and only missing nodes are replaced. The job waits while one of its nodes is suspect,
  // because that node will soon be either ready or lost.
  std::optional<Gang> Place(const JobEntry& entry, const GangShape& shape);

  // Works like Place, but may also use slots that are reserved for recovering jobs later in the
  // queue. Without this function, two recovering jobs could wait for each other's slots
  // forever.
  std::optional<Gang> PlaceOverReservations(const JobEntry& entry, const GangShape& shape);

  // Returns the number of nodes on which a recovering job could continue: its remaining nodes and,
  // if `with_free` is true, other nodes with enough free slots. Returns 0 while the job waits for a
  // suspect node.
  int CountUsable(const JobEntry& entry, const GangShape& shape, bool with_free);

  // Returns the reason why Place found no gang for the job: kSlots, kSharedRoot or kChangingNode.
  Shortage ShortageOf(const JobEntry& entry, const GangShape& shape);

  // Returns the number of nodes that had enough free slots for the shape at the start of the pass.
  // Closed nodes are not counted.
  // If the job may choose between groups of nodes, counts those of the group with the most.
  FittingNodes CountFittingNodes(const JobEntry& entry, const GangShape& shape) const;

  // Returns the groups of nodes from which the gang is chosen (node_groups.h), without groups of
  // other devices than shape.device. The reference is valid as long as the pass.
  const std::vector<NodeGroup>& GroupsFor(const JobEntry& entry, const GangShape& shape) const;

  // Returns true if this pass has assigned slots of the node.
  bool HasTaken(const std::string& node_id) const { return taken_.contains(node_id); }

  // The nodes that accept no new ranks in this pass, with those that Place has closed.
  const NodeLimits& limits() const { return limits_; }

  // Reservations of nodes by users.
  const ReservedNodes& reserved() const { return reserved_; }

  // Returns true if the node accepts ranks now. Considers neither its free slots nor reservations.
  bool IsOpen(const NodeEntry& node) const;

  // Returns alternative sets of nodes from which Place chooses the nodes of the job, whether or not
  // their slots are free. The nodes of a set are in one group, and share the checkpoint root if
  // they must.
  std::vector<std::set<std::string>> UsableNodes(const JobEntry& job, const GangShape& shape) const;

  // From now on, a gang is placed only if `accept` returns true. nullptr: every gang is accepted.
  void AcceptOnly(std::function<bool(const Gang&)> accept) { accept_ = std::move(accept); }

  // From now on, no job is placed on these nodes.
  void Avoid(std::set<std::string> nodes) { avoided_ = std::move(nodes); }

 private:
  // Returns the nodes that are reserved for others than the job. nullptr: none.
  const std::set<std::string>* ReservedForOthers(const JobEntry& job) const;
  // Returns true if the pass may assign the slot at `position` to the job.
  bool IsUsable(const NodeEntry& node, int position, const JobEntry& job, bool over_reservations);
  // Returns slots of the node for the job, `preferred` slots first. Returns nullopt if there are
  // too few.
  std::optional<NodeSlots> TakeFrom(const NodeEntry& node, const JobEntry& job,
                                    const GangShape& shape, const std::vector<int>& preferred,
                                    bool over_reservations);
  // Adds the remaining nodes of the job's last gang to `gang`. Returns false if the job must wait
  // for a suspect node.
  bool KeepGang(const JobEntry& job, const GangShape& shape,
                std::vector<std::optional<NodeSlots>>& gang);
  // Returns the first node in a bucket of state_.free_nodes from which this pass has taken no slot.
  // The pass takes nodes in the order of their ids, so a stored position avoids scanning the
  // earlier nodes again.
  std::set<std::string>::const_iterator FirstUntouched(v1::DeviceKind kind, int free,
                                                       const std::set<std::string>& bucket);
  std::vector<std::string> PickNodes(const GangShape& shape, int count,
                                     const std::set<std::string>& not_these);
  // Works like PickNodes, but prefers nodes that are close to each other and to the nodes in `kept`
  // (close_nodes.h).
  std::vector<std::string> PickClose(const GangShape& shape, int count,
                                     const std::set<std::string>& kept,
                                     const std::set<std::string>& not_these);
  // `reserved`: nodes that are not counted. nullptr: none.
  int CountFittingIn(const NodeGroup& group, const GangShape& shape,
                     const std::set<std::string>* reserved) const;
  bool FillGang(const JobEntry& job, const GangShape& shape, bool over_reservations,
                std::vector<std::optional<NodeSlots>>& gang);
  std::optional<Gang> FindGang(const JobEntry& job, const GangShape& shape, bool over_reservations);
  std::optional<Gang> PlaceGang(const JobEntry& job, const GangShape& shape,
                                bool over_reservations);
  // Returns true if Place would find a gang with these limits.
  bool Fits(const JobEntry& job, const GangShape& shape, NodeLimits limits);
  void Take(const Gang& gang, const GangShape& shape);
  int FreeNow(const NodeEntry& node, v1::DeviceKind kind) const;

  // A restriction of the nodes of a gang: to one group, and to nodes that share the checkpoint
  // root.
  struct Choice {
    const NodeGroup* group = nullptr;
    std::set<std::string> barred;
    bool Allows(const std::string& node_id) const {
      return group->Contains(node_id) && !barred.contains(node_id);
    }
  };
  // Calls `place` for each choice, until `place` returns a gang.
  std::optional<Gang> WithEachChoice(const JobEntry& job, const GangShape& shape,
                                     const std::function<std::optional<Gang>()>& place);
  // Returns the choices in the order in which they are tried. The first choice has the most nodes
  // of the job's previous gang.
  std::vector<Choice> ChoicesFor(const JobEntry& job, const GangShape& shape) const;
  // Sorts groups of the topology: the group with the fewest fitting nodes that are enough is first,
  // so that larger gangs find large groups.
  void SortByFit(const JobEntry& job, const GangShape& shape, std::vector<Choice>& choices) const;
  // Returns alternative sets of nodes to exclude, one for each shared directory.
  std::vector<std::set<std::string>> BarredSets(const JobEntry& job, const GangShape& shape) const;
  int CountUsableHere(const JobEntry& entry, const GangShape& shape, bool with_free);

  const ClusterState& state_;
  NodeLimits limits_;
  std::function<bool(const Gang&)> accept_;
  // Restricts the nodes of the gang being placed. nullptr between placements.
  const Choice* choice_ = nullptr;
  std::set<std::string> avoided_;
  const ReservedNodes reserved_;
  // Nodes that are reserved for others than the job being placed. nullptr: none.
  const std::set<std::string>* reserved_for_others_ = nullptr;
  // The groups by device and placement of a job (PlacementKey), and by kind of slot.
  mutable std::map<std::tuple<v1::DeviceKind, std::string, std::string>, std::vector<NodeGroup>>
      groups_;
  // The positions of the slots assigned in this pass, by node.
  HostUse::TakenSlots taken_;
  HostUse host_use_{taken_};
  // The free slots of the nodes in taken_. For these nodes state_.free_nodes is out of date.
  std::map<v1::DeviceKind, NodesByFreeSlots> touched_;
  // For each kind and number of free slots: a position in the bucket of state_.free_nodes. All
  // nodes before this position are in taken_.
  std::map<std::pair<v1::DeviceKind, int>, std::set<std::string>::const_iterator> first_untouched_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_PLACEMENT_H_

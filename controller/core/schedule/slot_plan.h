// Plans when the first heads of a queue get their slots, one head after another.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_SLOT_PLAN_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_SLOT_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/schedule/head_promise.h"
#include "controller/core/schedule/placement.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/host_amount.h"
#include "controller/core/state/nodes/node_groups.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// A head that is to be planned. All slots of a head are its seats (host_releases.h).
struct HeadToPlan {
  GangShape shape;
  // The assumed time for which the head holds its slots.
  int64_t hold_ms = kUnknownRunMs;
  // The slots that a recovering head keeps on nodes, by node id.
  std::map<std::string, int, std::less<>> kept = {};
  Releases releases = {};
  // The nodes of the head's gang are in one of these disjoint groups.
  std::vector<NodeGroup> groups = {{.has_all = true}};
};

// A gang that starts now, and the time until which it holds its slots.
struct GangUntil {
  const Gang& gang;
  // Requested by each rank.
  HostAmount host = {};
  Timestamp end = kNever;
};

// Free slots over time. Each head gets the earliest time from which on enough nodes are free for
// its assumed run time beside the heads before it. The head gets the free nodes on which it keeps
// slots, then those with the fewest free slots, and then those with the lowest ids. Equal input
// gives equal plans.
class SlotPlan {
 public:
  explicit SlotPlan(Timestamp now) : now_(now) {}

  // Adds a head behind the others. Returns its time; kNever if there is none.
  Timestamp Add(const HeadToPlan& head);
  std::size_t size() const { return heads_.size(); }

  // Returns true if no head gets its slots later if this gang starts.
  bool Allows(const GangUntil& started) const;
  // Returns planned nodes of heads that a gang with this many slots on each node must not take if
  // it holds them until `end`. `host`: requested by each rank of the gang.
  std::set<std::string> NodesNotToTake(int slots, const HostAmount& host, Timestamp end) const;
  // Takes the slots of a gang that starts, and plans anew.
  void Take(const GangUntil& started);

 private:
  struct NodeTimes {
    std::string id;
    // When each slot is free, in ascending order.
    ReleaseTimes slots;
    // When enough slots are free for one node of the head's gang. kNever if the slots are too few.
    Timestamp fits = kNever;
  };
  struct Head {
    GangShape shape;
    int64_t hold_ms = 0;
    std::map<std::string, int, std::less<>> kept;
    // Sorted by id.
    std::vector<std::vector<NodeTimes>> groups;
    // The time at which the head was planned when it was added.
    Timestamp promised = kNever;
  };
  // Slots of a node that the plan gives to a head.
  struct Claim {
    std::size_t head = 0;
    Timestamp from = 0;
    Timestamp until = 0;
    // Without the slots that the head keeps on the node.
    int slots = 0;
  };
  using Claims = std::map<std::string, std::vector<Claim>, std::less<>>;
  // A node on which other heads or a started gang take slots.
  struct SharedNode {
    std::size_t index = 0;
    ReleaseTimes slots;
    // The claims of earlier heads, in slots of this head.
    std::vector<Claim> claims;
  };
  struct Found {
    Timestamp time = kNever;
    std::vector<std::string> nodes;
  };

  static void SetTimes(const Head& head, ReleaseTimes slots, NodeTimes& node);
  // Returns the position of the node; nullopt if it is not in the list.
  static std::optional<std::size_t> IndexOf(const std::vector<NodeTimes>& nodes,
                                            std::string_view id);
  // Returns true if enough slots are free from `time` on for as long as the head holds them.
  static bool IsFree(const Head& head, const SharedNode& node, Timestamp time);
  static int FreeAt(const SharedNode& node, Timestamp time);
  // Returns the earliest time from `from` on at which IsFree returns true.
  static Timestamp Earliest(const Head& head, const SharedNode& node, Timestamp from);

  SharedNode Shared(const Head& head, const std::vector<NodeTimes>& nodes, std::size_t index,
                    const Claims& claims, const GangUntil* started) const;
  std::vector<SharedNode> SharedNodes(const Head& head, const std::vector<NodeTimes>& nodes,
                                      const Claims& claims, const GangUntil* started) const;
  Found FindIn(const Head& head, const std::vector<NodeTimes>& nodes, const Claims& claims,
               const GangUntil* started) const;
  Found FindFor(const Head& head, const Claims& claims, const GangUntil* started) const;
  void AddClaims(std::size_t head, const Found& found, Claims& claims) const;
  bool HoldsBeside(const Claim& claim, const std::string& id, const GangUntil& started) const;

  const Timestamp now_;
  std::vector<Head> heads_;
  Claims claims_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_SLOT_PLAN_H_

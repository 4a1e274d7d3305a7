// CPU cores and memory of nodes during one pass over the queue.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_HOST_USE_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_HOST_USE_H_

#include <map>
#include <set>
#include <string>

#include "controller/core/schedule/gang_order.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/state/host_amount.h"

namespace trainyard::controller {

// Counts the CPU cores and memory that the placed gangs request. Jobs without a request use
// nothing.
class HostUse {
 public:
  // The positions of the slots that the pass has assigned, by node.
  using TakenSlots = std::map<std::string, std::set<int>>;

  // `taken` must outlive the object.
  explicit HostUse(const TakenSlots& taken) : taken_(taken) {}

  HostUse(const HostUse&) = delete;
  HostUse& operator=(const HostUse&) = delete;

  // Counts the requests of a placed gang.
  void Take(const Gang& gang, const GangShape& shape);

  // Returns true if the node has what a node of the gang requests.
  bool Holds(const NodeEntry& node, const GangShape& shape) const;
  // Returns true if the node has what a node of the gang requests, after the present ranks of
  // these slots have ended.
  bool HoldsOn(const NodeEntry& node, const NodeSlots& slots, const GangShape& shape) const;

 private:
  HostAmount LeftOn(const NodeEntry& node, const std::set<int>& released) const;

  const TakenSlots& taken_;
  std::map<std::string, HostAmount> requested_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_HOST_USE_H_

// The duration of collective operations, which depends on the links between the group's members.
// Has no side effects.
#ifndef TRAINYARD_CONTROLLER_PLANNER_COLLECTIVE_SECONDS_H_
#define TRAINYARD_CONTROLLER_PLANNER_COLLECTIVE_SECONDS_H_

#include <cstdint>
#include <optional>

#include "controller/planner/cluster.h"
#include "controller/planner/network_tree.h"
#include "controller/planner/trainer_profile.h"

namespace trainyard::planner {

// The placement of a group: `in_node` members on each of `nodes` nodes.
struct GroupPlace {
  double in_node = 1;
  double nodes = 1;
  // The links between these nodes. nullopt if the cluster has no tree.
  std::optional<AxisRoute> route = std::nullopt;

  double size() const { return in_node * nodes; }
};

// Returns the placement of a group whose members are `stride` ranks apart. Consecutive ranks differ
// first in tp, then in cp, dp and pp.
GroupPlace PlaceOfGroup(int64_t size, int64_t stride, const Cluster& cluster);

// The bandwidth of a group, and the link that limits it.
struct LinkLimit {
  static constexpr int kInNode = -1;

  double bandwidth = 0;  // Per member and per direction.
  int level = kInNode;   // Level of the network tree. kInNode: the links of a node.
};

// The bandwidths and latencies of one group.
class GroupLinks {
 public:
  GroupLinks(const GroupPlace& place, const Cluster& cluster, const TrainerProfile& profile);

  // Returns the time of a ring all-gather or reduce-scatter whose complete buffer has `bytes`. 0
  // for a group of one member.
  double GatherSeconds(double bytes) const;
  double AllReduceSeconds(double bytes) const { return 2 * GatherSeconds(bytes); }
  // Returns the time of an all-to-all in which every member sends `bytes`, divided equally among
  // all members.
  double ExchangeSeconds(double bytes) const;
  // Returns the time that one member needs to send `bytes` to the next member.
  double SendSeconds(double bytes) const;
  // Returns the time until each member's part has passed once around the ring. In each round, all
  // members wait for the slowest hop.
  double RingSeconds(double part_bytes) const;

  // Limits of a ring, of a member that sends to the next member, and of an all-to-all. The limit of
  // an all-to-all is that of the transfers to other nodes, unless the group has one node.
  const LinkLimit& ring() const { return ring_; }
  const LinkLimit& send() const { return send_; }
  const LinkLimit& exchange() const { return exchange_; }

 private:
  void SetExchange(const LinkLimit& near, const AxisRoute& route, const TrainerProfile& profile);

  double size_;
  double nodes_;
  double exchange_bandwidth_ = 0;  // In a node.
  double exchange_latency_ = 0;
  LinkLimit ring_;
  LinkLimit send_;
  LinkLimit exchange_;
  double latency_ = 0;  // Per collective.
  double hop_latency_ = 0;
};

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_COLLECTIVE_SECONDS_H_

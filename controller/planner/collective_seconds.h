// Duration of collective operations, depending on the links between a group's members. Pure
// functions.
#ifndef TRAINYARD_CONTROLLER_PLANNER_COLLECTIVE_SECONDS_H_
#define TRAINYARD_CONTROLLER_PLANNER_COLLECTIVE_SECONDS_H_

#include <cstdint>

#include "controller/planner/cluster.h"
#include "controller/planner/trainer_profile.h"

namespace trainyard::planner {

// Placement of a group's members. The group has in_node * nodes members.
struct GroupPlace {
  double in_node = 1;
  double nodes = 1;

  double size() const { return in_node * nodes; }
};

// Placement of a group whose members are `stride` ranks apart. Order of ranks: tp, cp, dp, pp.
GroupPlace PlaceOfGroup(int64_t size, int64_t stride, const Cluster& cluster);

// Bandwidths and latencies of one group.
class GroupLinks {
 public:
  GroupLinks(const GroupPlace& place, const Cluster& cluster, const TrainerProfile& profile);

  // Ring all-gather or reduce-scatter of `bytes` in total. 0 for a group of one.
  double GatherSeconds(double bytes) const;
  double AllReduceSeconds(double bytes) const { return 2 * GatherSeconds(bytes); }
  // All-to-all: every member sends `bytes`, divided equally among all members.
  double ExchangeSeconds(double bytes) const;
  // One member sends to the next.
  double SendSeconds(double bytes) const;
  // Every member's part goes around the ring once. In each round, all members wait for the slowest
  // hop.
  double RingSeconds(double part_bytes) const;

 private:
  double size_;
  double nodes_;
  double in_node_bandwidth_ = 0;
  double bandwidth_ = 0;  // Per member and direction.
  double send_bandwidth_ = 0;
  double latency_ = 0;  // Per collective.
  double hop_latency_ = 0;
};

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_COLLECTIVE_SECONDS_H_

// Reservations of nodes by users: for a time, the nodes are kept for the jobs of a queue or a user.
// They are unrelated to the slots that recovering jobs keep (reservations.h).
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_NODES_NODE_RESERVATIONS_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_NODES_NODE_RESERVATIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "controller/core/state/cluster_state.h"
#include "controller/core/state/job_class.h"
#include "proto/support/clock.h"
#include "trainyard/v1/reservation.pb.h"

namespace trainyard::controller {

inline constexpr std::size_t kMaxReservations = 1000;
// The maximum number of names of nodes in all reservations together.
inline constexpr std::size_t kMaxReservedNames = 100'000;
// A reservation ends at most this time after it is created.
inline constexpr int64_t kLongestReservationMs = int64_t{3653} * 86'400'000;

// Returns the reservations in the order of their start.
std::vector<const v1::NodeReservation*> ReservationsByStart(const ClusterState& state);

// Returns the names of the reservation's nodes.
std::set<std::string> ReservedNames(const v1::NodeReservation& reservation);

// Returns true if jobs of the class may use the nodes of the reservation at any time.
bool BelongsTo(const v1::NodeReservation& reservation, const JobClass& job_class);

// Returns the earliest time, not before `from`, at which a job of the class may start on nodes with
// this reservation. A job without a time limit is assumed to run for 60 days at most.
Timestamp StartBeside(const v1::NodeReservation& reservation, const JobClass& job_class,
                      Timestamp from);

// The reserved nodes of the cluster, for one pass over the queue.
class ReservedNodes {
 public:
  // `state` must outlive the object and must not change.
  ReservedNodes(const ClusterState& state, Timestamp now);
  ReservedNodes(const ReservedNodes&) = delete;
  ReservedNodes& operator=(const ReservedNodes&) = delete;

  bool empty() const { return by_node_.empty(); }

  // Returns the ids of the nodes on which jobs of the class must not start now. nullptr if there
  // are none. The set is valid as long as this object.
  const std::set<std::string>* ClosedFor(const JobClass& job_class) const;

  // Returns the earliest time, not before `from`, at which a job of the class may start on the
  // node.
  Timestamp StartOn(const std::string& node_id, const JobClass& job_class, Timestamp from) const;

  // Returns the reservations of the node, by their start.
  std::vector<const v1::NodeReservation*> On(const std::string& node_id) const;

 private:
  using Reservations = std::vector<const v1::NodeReservation*>;

  const Timestamp now_;
  Reservations reservations_;
  // By id of the node; the reservations of a node do not overlap.
  std::map<std::string, Reservations> by_node_;
  // The nodes of several reservations, by these reservations. Jobs that differ only in their
  // number, or end at other times, mostly have equal sets.
  mutable std::map<Reservations, std::set<std::string>> closed_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_NODES_NODE_RESERVATIONS_H_

// Release times for a head, with reservations of nodes, and for a head whose ranks request CPU
// cores and memory.
//
// The times are those of seats. A seat is a slot with the cores and the memory that one rank of the
// head requests. At any time, the seats of a node are as many as its free slots, cores and memory
// permit. Without such a request, a seat is a slot.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_HOST_RELEASES_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_HOST_RELEASES_H_

#include <vector>

#include "controller/core/schedule/head_promise.h"
#include "controller/core/schedule/placement.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// A gang that the pass has placed. `job` must outlive it.
struct StartedGang {
  const Gang& gang;
  const JobEntry& job;
};

// Returns the times at which seats are free for the head. The gangs in `started` hold their slots,
// cores and memory until the latest ends of their jobs. Other gangs that `pass` has placed are not
// considered. The head's own reserved slots are free for it now.
Releases ReleasesForHead(const ClusterState& state, const PlacementPass& pass, const JobEntry& head,
                         const ExpectedEnds& expected_ends, Timestamp now,
                         const std::vector<StartedGang>& started = {});

// Returns the number of seats of a head with this shape that `slots` ranks of another job take on a
// node at most.
int SeatsTaken(int slots, const HostAmount& per_rank, const GangShape& head);

// Returns the gang of the job with as many slots on each node as it takes seats of the head. The
// additional slots are no slots of the node.
Gang InSeats(const Gang& gang, const JobEntry& job, const GangShape& head);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_HOST_RELEASES_H_

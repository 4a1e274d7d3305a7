// The result of one pass over the queue: which jobs get slots, and why the other jobs wait.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_SCHEDULE_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/schedule/layout_choice.h"
#include "controller/core/schedule/placement.h"
#include "controller/core/schedule/rendezvous_ports.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// The maximum number of placements from the queue per pass. Recovering jobs that use only their own
// slots are not limited.
inline constexpr int kPlacementsPerPass = 1024;

// The slots assigned to a job.
struct Placement {
  int64_t job_id = 0;
  int64_t attempt = 0;
  Gang gang;
  // The layout that the controller chose for a job with auto_layout.
  std::optional<v1::GrantedLayout> layout;
  // The address and port of the gang's rendezvous.
  std::string master_address;
  int master_port = 0;
};

// The head of the queue: the job at which the pass ended. MakeSchedule lists the only cases in
// which later jobs overtake it.
struct QueueHead {
  int64_t job_id = 0;
  Shortage shortage = Shortage::kSlots;
  // The number of nodes whose free slots suffice for one node of the head's gang.
  int fitting_nodes = 0;
};

// The result of a pass. Events, pending reasons, lists, metrics and layout questions are all
// derived from the schedule.
struct Schedule {
  std::vector<Placement> placements;
  // nullopt if no job blocks the queue.
  std::optional<QueueHead> head;
  // The layout choices for which the jobs up to and including the head wait.
  std::vector<LayoutQuestion> layout_questions;
  // True if nothing is placed yet because workers that may run lost jobs have not attached
  // (lost_history.h).
  bool awaits_workers = false;
};

// Makes one pass over the queue: first come, first served. The head is never overtaken, with three
// exceptions:
// - A recovering job that needs only its own slots does not wait for its turn.
// - A recovering job may also use free slots if the head is not recovering. Otherwise the two jobs
//   could wait for each other's slots.
// - A job without a fitting layout waits for other nodes and blocks no other job.
// Equal input gives equal output.
Schedule MakeSchedule(const ClusterState& state, RendezvousPorts& ports, NodeLimits limits,
                      Timestamp now);

// Returns true if the job requests slots in a pass. During its backoff, or while no layout fits, a
// job requests no slots and has no position in the queue.
bool RequestsSlots(const JobEntry& entry, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_SCHEDULE_H_

// The result of one pass over the queue: which jobs get slots, and why the others wait.
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

// Limit on placements from the queue per pass. Recovering jobs that take only their own slots are
// not limited.
inline constexpr int kPlacementsPerPass = 1024;

// Slots that a job gets.
struct Placement {
  int64_t job_id = 0;
  int64_t attempt = 0;
  Gang gang;
  // Layout chosen by the controller for a job with auto_layout.
  std::optional<v1::GrantedLayout> layout;
  // Rendezvous of the gang.
  std::string master_address;
  int master_port = 0;
};

// The head of the queue: the job at which the pass ended. Later jobs never overtake it.
struct QueueHead {
  int64_t job_id = 0;
  Shortage shortage = Shortage::kSlots;
  // Nodes whose free slots suffice for one node of the head's gang.
  int fitting_nodes = 0;
};

// Result of a pass. Events, pending reasons, lists, metrics and layout questions are all derived
// from it.
struct Schedule {
  std::vector<Placement> placements;
  // nullopt if no job blocks the queue.
  std::optional<QueueHead> head;
  // Layout choices that jobs up to the head wait for.
  std::vector<LayoutQuestion> layout_questions;
  // True if nothing is placed yet, because workers that may run lost jobs have not attached
  // (lost_history.h).
  bool awaits_workers = false;
};

// One pass over the queue: first come, first served. The head is never overtaken. Exceptions:
// - A recovering job that needs only its own slots does not wait for its turn.
// - A job without a fitting layout waits for other nodes, and blocks no other job.
// Equal input gives equal output.
Schedule MakeSchedule(const ClusterState& state, RendezvousPorts& ports, NodeLimits limits,
                      Timestamp now);

// True if the job requests slots in a pass. A job in its backoff, or without a fitting layout, does
// not, and has no position in the queue.
bool RequestsSlots(const JobEntry& entry, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_SCHEDULE_H_

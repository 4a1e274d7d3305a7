// The result of one pass over the queue: which jobs get slots, and why the other jobs wait.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_SCHEDULE_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/core/schedule/head_promise.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/schedule/placement.h"
#include "controller/core/schedule/refusals.h"
#include "controller/core/schedule/rendezvous_ports.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/state/jobs/job_timing.h"
#include "controller/core/support/preemption_limits.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/pending_reason.pb.h"

namespace trainyard::controller {

// The maximum number of placements from the queue per pass. Recovering jobs that use only their own
// slots are not limited.
inline constexpr int kPlacementsPerPass = 1024;

// The slots assigned to a job.
struct Placement {
  int64_t job_id = 0;
  int64_t attempt = 0;
  Gang gang;
  // The layout that the controller chose for a job with auto_layout, and that of an elastic job.
  std::optional<v1::GrantedLayout> layout;
  // The number of promised heads of the queue that precede the job, and that it does not delay.
  std::ptrdiff_t heads_before = 0;
  // The address and port of the gang's rendezvous.
  std::string master_address;
  int master_port = 0;
};

// The head of the queue of one kind of slots: the first job in order that could not be placed. A
// further head is the next job in order that could not be placed beside the heads before it.
struct QueueHead {
  int64_t job_id = 0;
  Shortage shortage = Shortage::kSlots;
  // The number of nodes whose free slots suffice for one node of the head's gang.
  int fitting_nodes = 0;
  // The time at which the head fits at the latest if running jobs end as expected, and no job comes
  // before it. kNever if the open nodes are too few.
  Timestamp promised = kNever;
  // The group of the topology that contains the fitting nodes (FittingNodes).
  std::string fitting_group = {};
  // The running job whose end is expected at the promised time. 0 if none is known, and for further
  // heads.
  int64_t awaited_job_id = 0;
};

// The promised times of one job, oldest first (promise_history.h).
using PromiseHistory = std::vector<v1::PromiseChange>;
// The histories of jobs that wait and are or were heads, by job.
using Promises = std::map<int64_t, PromiseHistory>;

// Running jobs to preempt for a job.
struct Preemption {
  int64_t for_job_id = 0;
  std::vector<int64_t> job_ids;
  // The nodes on which the job is expected to start.
  std::set<std::string> nodes;
};

// The result of a pass. Events, pending reasons, lists, metrics and layout questions are all
// derived from the schedule.
struct Schedule {
  std::vector<Placement> placements;
  std::vector<Preemption> preemptions;
  // The heads of the queues, by kind of slot. A queue without a blocked job has no head.
  std::map<v1::DeviceKind, QueueHead> heads;
  // The further heads that are promised a time (PassOptions), in order. Empty for a queue whose
  // head preempts jobs in this pass.
  std::vector<QueueHead> further_heads;
  // For each class with waiting jobs: why none of them was placed, or no more of them.
  Refusals refusals;
  // The layout choices for which the jobs up to and including the head wait, and choices for larger
  // sizes of running elastic jobs (growth.h).
  std::vector<LayoutQuestion> layout_questions;
  // The history of the promises to heads. A pass does not set it (ContinuePromises).
  Promises promises;
  // True if nothing is placed yet because workers that may run lost jobs have not attached
  // (lost_history.h).
  bool awaits_workers = false;

  // Returns the head of this kind, or nullptr.
  const QueueHead* HeadOf(v1::DeviceKind kind) const;
  // Returns all promised heads of this kind that still exist, in order.
  std::vector<QueueHead> PromisedHeadsOf(const ClusterState& state, v1::DeviceKind kind) const;
  // Returns the head or further head if it is this job, or nullptr.
  const QueueHead* AsHead(int64_t job_id) const;
  // Returns why the class of the job was refused, or nullopt if it was not.
  std::optional<Refusal> RefusalOf(const v1::Job& job) const;
};

// The settings of a pass.
struct PassOptions {
  PreemptionLimits preemption;
  // The number of heads that are promised a time, for each kind of slot.
  int promised_heads = 1;
};

// Makes one pass over all waiting jobs, for each kind of slot:
// - Recovering jobs that need only their own slots are placed first.
// - An elastic job gets the largest usable number of nodes. It is the head only if its minimum does
//   not fit.
// - Jobs are placed in their order (queue_order.h) up to the first one that does not fit, the head.
//   A job without a fitting layout waits for other nodes and is not the head.
// - The head is promised a time (head_promise.h), and so are further heads (promised_heads.h).
//   Later jobs are placed if they delay none of them, those with the shortest time limit first.
// - A head that has waited long may preempt running jobs (preemption.h).
// - Recovering jobs behind the head may continue on fewer nodes, or with free slots if the head is
//   not recovering. Otherwise the two could wait for each other's slots.
// Equal input gives equal output. `limits.roots` and `expected_ends` are used during the call only.
Schedule MakeSchedule(const ClusterState& state, RendezvousPorts& ports, NodeLimits limits,
                      const ExpectedEnds& expected_ends, Timestamp now,
                      const PassOptions& options = {});

// Returns true if the job requests slots in a pass. During its backoff, or while no layout fits, a
// job requests no slots and has no position in the queue.
inline bool RequestsSlots(const ClusterState& state, const JobEntry& entry, Timestamp now) {
  return IsDue(entry, now) && !HasNoLayout(state, entry);
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_SCHEDULE_H_

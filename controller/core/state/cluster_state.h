// All durable state of the controller. Only Apply changes it (apply.h).
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_CLUSTER_STATE_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_CLUSTER_STATE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "controller/core/state/fair_share.h"
#include "controller/core/state/host_amount.h"
#include "controller/core/state/job_class.h"
#include "controller/core/state/job_queue.h"
#include "controller/core/state/topology_index.h"
#include "controller/core/support/durations.h"
#include "proto/contract/attempt_key.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_array.pb.h"
#include "trainyard/v1/node.pb.h"
#include "trainyard/v1/queue.pb.h"
#include "trainyard/v1/reservation.pb.h"
#include "trainyard/v1/topology.pb.h"

namespace trainyard::controller {

// kAttemptsKept is the maximum number of attempts kept per job. Only the newest
// kAttemptsKeptWithRanks of these attempts keep their list of ranks.
inline constexpr int kAttemptsKept = 100;
inline constexpr int kAttemptsKeptWithRanks = 10;
// The maximum number of layout choices kept per job; the newest choices are kept.
inline constexpr std::size_t kLayoutsKept = 16;

// The identity that is bound to a node id. Both fields are hexadecimal, and empty before the first
// Hello.
struct NodeBinding {
  // Public key of the node.
  std::string key;
  // The SHA-256 hash of the node's secret. Only workers of older releases send a secret.
  std::string secret_hash;
};

// Slots of one kind on a node that one attempt has.
struct SlotHolder {
  // {0, 0}: the slots are free.
  AttemptKey attempt;
  v1::DeviceKind kind = v1::DEVICE_KIND_UNSPECIFIED;
  int slots = 0;
  // True if the attempt is in NodeEntry::uncleared.
  bool is_uncleared = false;
  // Requested by the ranks in these slots.
  HostAmount host = {};
  friend bool operator==(const SlotHolder&, const SlotHolder&) = default;
};

struct NodeEntry {
  // The node. node.slot_uses shows users which attempt has each slot: a rank of a live attempt, a
  // rank of an ended attempt whose job has a reservation, or an ended attempt in `uncleared`. Only
  // the functions of slot_ledger.h write node.slot_uses.
  v1::Node node;
  // The log contains all facts of the node up to this number.
  uint64_t fact_sequence = 0;
  NodeBinding binding;
  // The place of the node (see v1::Hello). Empty if unknown.
  std::string place;

  // Jobs whose live attempt has ranks on this node. This field and the next three are derived from
  // the fields above and from the jobs.
  std::set<int64_t> live_jobs;
  // Attempts that ended while this node was lost. An attempt's slots stay taken until the node
  // confirms that no rank of the attempt runs there.
  std::set<AttemptKey> uncleared;
  // A summary of node.slot_uses, in the order of the first slots. A pass reads the holders of all
  // nodes, and messages are spread over the memory.
  std::vector<SlotHolder> holders;
  // CPU cores and memory that no rank requests. Negative if the node was replaced by a smaller one.
  HostAmount free_host;
};

struct JobEntry {
  // The job. job.attempts is sorted oldest first; the last attempt is live unless its state is
  // ENDED. The job's origins are stored in origin_list, not in job.origins.
  v1::Job job;
  // Packed by PackOrigins.
  std::string origin_list;
  std::string request_id;
  bool stop_requested = false;
  bool kill_requested = false;
  std::deque<Timestamp> restart_times_ms;
  int restarts_without_progress = 0;
  // started_ranks, exited_ranks, cleared_nodes and first_failure_ms are facts about the newest
  // attempt.
  std::set<int> started_ranks;
  std::map<int, v1::RankExited> exited_ranks;
  std::set<std::string> cleared_nodes;
  Timestamp first_failure_ms = 0;
  // Attempt and step of the newest finding on which the loss guard acted. The guard acts only once
  // per step.
  std::pair<int64_t, int64_t> guarded;
  // Attempt and step of the newest watchdog alert.
  std::pair<int64_t, int64_t> watched;
  // Slow ranks of the newest attempt that were already reported.
  std::set<int> slow_ranks;
  // The newest layout choices for a job with auto_layout, oldest first.
  std::vector<v1::GrantedLayout> layouts;
  // Only for arrays: elements that have ended or could not become jobs, in the order of their ends.
  std::vector<v1::ArrayElement> elements;
  // Only for arrays: the decisions of the halving, oldest first.
  std::vector<v1::ArrayRung> rungs;
};

// The slots that a recovering job keeps for its next attempt. A reservation exists from the end of
// an attempt until the next attempt is placed, the job ends, or the job is paused. A slot leaves
// the reservation if an earlier job takes the slot, or if the node rejoins without the slot.
struct Reservation {
  // The ended attempt that had the slots.
  AttemptKey attempt;
  // Maps node ids to slot indexes.
  std::map<std::string, std::set<int>> slots;
  friend bool operator==(const Reservation&, const Reservation&) = default;
};

// The part of a removed node's state that is kept. This part is restored if a worker with the same
// node id joins again.
struct RemovedNode {
  uint64_t fact_sequence = 0;
  NodeBinding binding;
  Timestamp removed_ms = 0;
};

// The request id of a recently archived job.
struct ArchivedRequest {
  std::string request_id;
  int64_t job_id = 0;
  Timestamp archived_ms = 0;
};

// The slots of a node, for passes over all nodes: the entries of the nodes are spread over the
// memory.
struct SlotRow {
  // Slots of one kind that one job has. Job 0: the slots are free.
  struct Part {
    int64_t job_id = 0;
    int slots = 0;
    bool is_gpu = false;
    // True if the slots belong to an ended attempt in NodeEntry::uncleared.
    bool is_uncleared = false;
    friend bool operator==(const Part&, const Part&) = default;
  };

  std::string node_id;
  bool is_lost = false;
  // True if the node is ready and not cordoned (TakesRanks).
  bool takes_ranks = false;
  bool is_cordoned = false;
  // In the order of NodeEntry::holders. The parts of most nodes need no memory of their own.
  absl::InlinedVector<Part, 3> parts = {};
  friend bool operator==(const SlotRow&, const SlotRow&) = default;
};

// The latest end of a live attempt, as far as the state shows it. All times are independent of the
// present time.
struct RunEnd {
  int64_t attempt = 0;
  Timestamp placed_ms = 0;
  // The end of the grace of an attempt that was asked to stop. 0 for other attempts.
  Timestamp stop_ms = 0;
  // The time at which the job reaches its time limit. 0 without a limit.
  Timestamp limit_ms = 0;
  friend bool operator==(const RunEnd&, const RunEnd&) = default;
};

inline constexpr std::array kDeviceKinds{v1::DEVICE_KIND_CPU, v1::DEVICE_KIND_GPU};

// Maps a number of free slots to the ids of the nodes with this number.
using NodesByFreeSlots = std::map<int, std::set<std::string>>;

struct ClusterState {
  int64_t next_job_id = 1;
  // The id of the newest submitted job. 0 if there is none.
  int64_t newest_job_id = 0;
  // After a restore or a loss of events, jobs with an id below restored_jobs_below must use attempt
  // numbers of at least restored_attempt.
  int64_t restored_jobs_below = 0;
  int64_t restored_attempt = 0;
  // Ranges of job numbers that may belong to jobs missing from the log, after a restore or a loss
  // of events. Maps the first number of a range to the number after its last number.
  std::map<int64_t, int64_t> lost_jobs;
  // The newest losses of history, oldest first (lost_history.h).
  std::deque<v1::HistoryLoss> losses;
  // Jobs that have not ended, and ended jobs that are not yet archived.
  std::map<int64_t, JobEntry> jobs;
  // Sorted oldest first. Before a submission is decided, the controller searches the archive for
  // the submission's request id. These entries are needed for jobs that were archived between the
  // search and the decision.
  std::deque<ArchivedRequest> archived_requests;
  std::map<std::string, NodeEntry> nodes;
  // Keyed by node id. Has at most kMaxRemovedNodes entries.
  std::map<std::string, RemovedNode> removed_nodes;
  // The slot time of ready and suspect nodes (capacity.h).
  v1::CapacityHistory capacity;
  // Queues with settings, by name. Other queues have default settings (queues.h).
  std::map<std::string, v1::Queue> queues;
  // The slot time of queues and of users in queues. Usage::held is derived from jobs and nodes.
  UsageByKey usages;
  // The topology as a user set it.
  v1::Topology topology;
  // Reservations of nodes by users, by name (node_reservations.h). At most kMaxReservations.
  std::map<std::string, v1::NodeReservation> node_reservations;
  // The clock that measured the times above (cluster_clock.h).
  v1::ClusterClock clock;

  // The following fields are indexes derived from the fields above, so that no tick scans ended
  // jobs.
  //
  // Jobs that wait for slots: queued jobs except those in dependent_jobs, and recovering jobs
  // without a live attempt.
  JobQueue pending_jobs;
  // The pending jobs, grouped by class.
  JobsByClass pending_classes;
  // Queued jobs that wait for conditions on other jobs (prerequisites.h). They block no other job.
  std::set<int64_t> dependent_jobs;
  // Maps a job to the queued and held jobs for which its end or its checkpoints matter.
  std::map<int64_t, std::set<int64_t>> dependents;
  // Queued and held jobs that name an ended job which has not met its condition. They can never
  // start, unless the report of a checkpoint arrives late.
  std::set<int64_t> unsatisfiable_jobs;
  // Arrays whose elements may become jobs, and arrays that are being stopped. They are not pending.
  std::set<int64_t> open_arrays;
  // Maps an array to the jobs of its elements that have not ended.
  std::map<int64_t, std::set<int64_t>> live_elements;
  // Reservations by job: one for each recovering job without a live attempt. All of these jobs are
  // pending.
  std::map<int64_t, Reservation> reservations;
  // Pending jobs with auto_layout.
  std::set<int64_t> pending_auto_jobs;
  // Paused or held jobs without a live attempt. Such jobs are not pending.
  std::set<int64_t> paused_jobs;
  // Jobs with a live attempt.
  std::set<int64_t> live_jobs;
  // Jobs whose live attempt was asked to stop.
  std::set<int64_t> stopping_jobs;
  // The latest ends of the jobs in live_jobs (run_end.h).
  std::map<int64_t, RunEnd> run_ends;
  std::set<std::string> lost_nodes;
  std::set<std::string> unhealthy_nodes;
  // Nodes that are being drained and on which a job may still run.
  std::set<std::string> draining_nodes;
  // Nodes with evidence against them (quarantine.h).
  std::set<std::string> blamed_nodes;
  // Slots of ready and suspect nodes.
  int64_t present_slots = 0;
  // Changes of held slots that usages do not contain yet. Empty between two events.
  std::map<UsageKey, int64_t> held_changes;
  // Ended jobs, sorted by the time of their end.
  std::set<std::pair<Timestamp, int64_t>> ended_jobs;
  // Jobs by name. A name has at most one live job, which is always the newest job of the name.
  std::map<std::string, std::set<int64_t>> jobs_by_name;
  // Includes the request ids of the jobs in archived_requests.
  std::map<std::string, int64_t> job_by_request_id;
  // Jobs that have not ended, by checkpoint directory as returned by CheckpointDirectory.
  std::map<std::string, int64_t> job_by_checkpoint_dir;
  // Nodes that accept ranks (ready, not cordoned) and have at least one free slot.
  std::map<v1::DeviceKind, NodesByFreeSlots> free_nodes;
  // Derived from `topology` (topology.h). nullptr without groups.
  std::shared_ptr<const TopologyIndex> topology_index;
  // Nodes with slots of a kind, by the kind of device (node_devices.h).
  std::map<v1::DeviceKind, std::map<std::string, std::set<std::string>>> nodes_by_device;
  // The slots of all nodes, sorted by node id (slot_rows.h).
  std::vector<SlotRow> slot_rows;
  // Rendezvous addresses and ports that live attempts use.
  std::set<std::pair<std::string, int>> rendezvous_in_use;
};

// Returns the newest attempt, or nullptr if the job has none.
const v1::Attempt* NewestAttempt(const JobEntry& entry);

// Returns the newest attempt if it has not ended, else nullptr.
const v1::Attempt* LiveAttempt(const JobEntry& entry);

// Returns the attempt with this number. Returns nullptr if the job has no such attempt or no longer
// lists it.
const v1::Attempt* FindAttempt(const v1::Job& job, int64_t number);

// Returns the job's checkpoint directory as a normalized path.
std::string CheckpointDirectory(const v1::JobSpec& spec);

// Adds the directory to the index of checkpoint directories, unless the job has none.
void IndexCheckpointDirectory(const v1::Job& job, ClusterState& state);

// The job's entry, or nullptr.
const JobEntry* FindEntry(const ClusterState& state, int64_t job_id);

// Returns the entry of the job that an event is about. The process ends if the state does not have
// the job.
JobEntry& EntryOf(int64_t job_id, ClusterState& state);

// Returns the newest job of this name in the state, or nullptr if there is none.
const JobEntry* NewestOfName(const ClusterState& state, const std::string& name);

// Returns true if the job was submitted, is not in the state, and is not lost (IsLostToRestore).
// Such a job is either archived or deleted.
bool IsArchived(const ClusterState& state, int64_t job_id);

// Removes an ended job and its index entries, but keeps the index entry for its request id.
void RemoveEnded(int64_t job_id, ClusterState& state);

// Returns true if the node is ready and not cordoned. New ranks may be placed on such a node,
// unless the node is unhealthy (node_health.h).
bool TakesRanks(const v1::Node& node);

// Returns true while the node is being drained and a job may still run on it.
bool IsDraining(const v1::Node& node);

// Returns the node ids of the attempt, ordered by node rank.
std::vector<std::string> GangNodes(const v1::Attempt& attempt);

// Returns the node's name, or its id if the node is unknown.
std::string NodeName(const ClusterState& state, const std::string& node_id);

// Returns the identity bound to the node id, even if the node was removed. Empty if none is bound.
const NodeBinding& BindingOf(const ClusterState& state, const std::string& node_id);

// Returns true if the job may be missing from the log after a restore or a loss of events.
// Processes of such a job cannot be managed and are not stopped.
bool IsLostToRestore(const ClusterState& state, int64_t job_id);

// TotalSlots and FreeSlots return the number of the node's slots of one kind: all of them, or only
// the free ones. With an entry, they read its holders, which is faster for many nodes.
int TotalSlots(const v1::Node& node, v1::DeviceKind kind);
int FreeSlots(const v1::Node& node, v1::DeviceKind kind);
int TotalSlots(const NodeEntry& entry, v1::DeviceKind kind);
int FreeSlots(const NodeEntry& entry, v1::DeviceKind kind);

// Returns the attempt that has the slot, or {0, 0} for a free slot.
AttemptKey HolderOf(const v1::SlotUse& use);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_CLUSTER_STATE_H_

// All durable state of the controller. Apply is its only writer (apply.h).
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_CLUSTER_STATE_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_CLUSTER_STATE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/state/job_queue.h"
#include "google/protobuf/duration.pb.h"
#include "proto/contract/attempt_key.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/node.pb.h"

namespace trainyard::controller {

// Maximum number of attempts kept per job, and how many of the newest keep their list of ranks.
inline constexpr int kAttemptsKept = 100;
inline constexpr int kAttemptsKeptWithRanks = 10;
// Number of newest layout choices kept per job.
inline constexpr std::size_t kLayoutsKept = 16;

// Identity bound to a node id. Both fields are hexadecimal. Both are empty before the first Hello.
struct NodeBinding {
  // Public key of the node.
  std::string key;
  // SHA-256 of the node's secret, from workers of older releases.
  std::string secret_hash;
};

struct NodeEntry {
  // node.slot_uses shows the holder of each slot to users: a rank of a live attempt, a rank of an
  // ended attempt whose job has a reservation, or an ended attempt in `uncleared`. Only the
  // functions of slot_ledger.h write it.
  v1::Node node;
  // The log contains all facts of the node up to this number.
  uint64_t fact_sequence = 0;
  NodeBinding binding;
  // Place of the node, as in v1::Hello; empty if unknown.
  std::string place;

  // Derived from the fields above and from the jobs:
  // Jobs whose live attempt has ranks here.
  std::set<int64_t> live_jobs;
  // Attempts that ended while this node was lost. Their slots stay taken until the node confirms
  // that their ranks are gone.
  std::set<AttemptKey> uncleared;
};

struct JobEntry {
  // job.attempts is oldest first; the last one is live unless its state is ENDED. The origins are
  // in origin_list instead of job.origins.
  v1::Job job;
  // Packed by PackOrigins.
  std::string origin_list;
  std::string request_id;
  bool stop_requested = false;
  bool kill_requested = false;
  std::deque<Timestamp> restart_times_ms;
  int restarts_without_progress = 0;
  // Facts about the newest attempt.
  std::set<int> started_ranks;
  std::map<int, v1::RankExited> exited_ranks;
  std::set<std::string> cleared_nodes;
  Timestamp first_failure_ms = 0;
  // Attempt and step of the newest finding that the loss guard acted on. The guard acts once per
  // step.
  std::pair<int64_t, int64_t> guarded;
  // Attempt and step of the newest watchdog alert.
  std::pair<int64_t, int64_t> watched;
  // Stragglers of the newest attempt that have been reported.
  std::set<int> slow_ranks;
  // Newest layout choices for a job with auto_layout, oldest first.
  std::vector<v1::GrantedLayout> layouts;
};

// Slots that a recovering job keeps for its next attempt. The record exists from the end of an
// attempt until the next one is placed, or the job ends or is paused. Slots that an earlier job
// takes, or that a rejoined node no longer has, leave the record.
struct Reservation {
  // The ended attempt that had the slots.
  AttemptKey attempt;
  // Node id -> indexes of slots.
  std::map<std::string, std::set<int>> slots;
  friend bool operator==(const Reservation&, const Reservation&) = default;
};

// State kept of a removed node. A worker that rejoins with the same id continues from it.
struct RemovedNode {
  uint64_t fact_sequence = 0;
  NodeBinding binding;
  Timestamp removed_ms = 0;
};

// Request id of a recently archived job.
struct ArchivedRequest {
  std::string request_id;
  int64_t job_id = 0;
  Timestamp archived_ms = 0;
};

inline constexpr std::array kDeviceKinds{v1::DEVICE_KIND_CPU, v1::DEVICE_KIND_GPU};

// Ids of the nodes by their number of free slots.
using NodesByFreeSlots = std::map<int, std::set<std::string>>;

struct ClusterState {
  int64_t next_job_id = 1;
  // Newest submitted job; 0 if none.
  int64_t newest_job_id = 0;
  // After a restore or a loss of events, jobs with id < restored_jobs_below must use attempt
  // numbers >= restored_attempt.
  int64_t restored_jobs_below = 0;
  int64_t restored_attempt = 0;
  // Job numbers that may belong to jobs missing from the log, after a restore or a loss of events:
  // first number -> one past the last.
  std::map<int64_t, int64_t> lost_jobs;
  // Newest losses of history, oldest first (lost_history.h).
  std::deque<v1::HistoryLoss> losses;
  // Jobs that have not ended, and ended jobs that are not archived yet.
  std::map<int64_t, JobEntry> jobs;
  // Oldest first. The controller searches the archive for the request id of a submission before the
  // submission is decided. These entries cover jobs that were archived in between.
  std::deque<ArchivedRequest> archived_requests;
  std::map<std::string, NodeEntry> nodes;
  // By node id; at most kMaxRemovedNodes entries.
  std::map<std::string, RemovedNode> removed_nodes;
  // Slot time of ready and suspect nodes (capacity.h).
  v1::CapacityHistory capacity;
  // Clock by which the times above are measured (cluster_clock.h).
  v1::ClusterClock clock;

  // Indexes derived from the fields above. No tick scans ended jobs.
  // Jobs that wait for slots: queued, or recovering without a live attempt.
  JobQueue pending_jobs;
  // By job: one record for each recovering job without a live attempt. All of them are pending.
  std::map<int64_t, Reservation> reservations;
  // Pending jobs with auto_layout.
  std::set<int64_t> pending_auto_jobs;
  // Paused or held jobs without a live attempt. They are not pending.
  std::set<int64_t> paused_jobs;
  // Jobs with a live attempt.
  std::set<int64_t> live_jobs;
  std::set<std::string> lost_nodes;
  std::set<std::string> unhealthy_nodes;
  // Nodes with evidence against them (quarantine.h).
  std::set<std::string> blamed_nodes;
  // Slots of ready and suspect nodes.
  int64_t present_slots = 0;
  // Ended jobs by the time of their end.
  std::set<std::pair<Timestamp, int64_t>> ended_jobs;
  // Jobs of each name. The only live job of a name is always its newest.
  std::map<std::string, std::set<int64_t>> jobs_by_name;
  // Includes the jobs in archived_requests.
  std::map<std::string, int64_t> job_by_request_id;
  // Checkpoint directories, as returned by CheckpointDirectory, of jobs that have not ended.
  std::map<std::string, int64_t> job_by_checkpoint_dir;
  // Nodes that accept ranks (ready, not cordoned) and have a free slot.
  std::map<v1::DeviceKind, NodesByFreeSlots> free_nodes;
  // Rendezvous addresses and ports in use by live attempts.
  std::set<std::pair<std::string, int>> rendezvous_in_use;
};

// Newest attempt, or nullptr if the job has none.
const v1::Attempt* NewestAttempt(const JobEntry& entry);

// Newest attempt if it has not ended, else nullptr.
const v1::Attempt* LiveAttempt(const JobEntry& entry);

// The attempt with this number, or nullptr if the job has no such attempt or no longer lists it.
const v1::Attempt* FindAttempt(const v1::Job& job, int64_t number);

// The job's checkpoint directory as a normalised path.
std::string CheckpointDirectory(const v1::JobSpec& spec);

// The job's entry, or nullptr.
const JobEntry* FindEntry(const ClusterState& state, int64_t job_id);

// Entry of the job of an event. The process ends if the state does not have the job.
JobEntry& EntryOf(int64_t job_id, ClusterState& state);

// Newest job of this name in the state, or nullptr.
const JobEntry* NewestOfName(const ClusterState& state, const std::string& name);

// True if the job was submitted, is not in the state, and is not lost (IsLostToRestore). Such a job
// is either archived or deleted.
bool IsArchived(const ClusterState& state, int64_t job_id);

// Removes an ended job and its index entries, except the one by request id.
void RemoveEnded(int64_t job_id, ClusterState& state);

// True when the node is ready and not cordoned: new ranks may be placed on it, unless it is
// unhealthy (node_health.h).
bool TakesRanks(const v1::Node& node);

// Node ids of the attempt, by node rank.
std::vector<std::string> GangNodes(const v1::Attempt& attempt);

// The node's name, or its id if the node is unknown.
std::string NodeName(const ClusterState& state, const std::string& node_id);

// Binding of the node id, including that of a removed node; empty if it has none.
const NodeBinding& BindingOf(const ClusterState& state, const std::string& node_id);

// True if the job may be missing from the log, after a restore or a loss of events. Its processes
// cannot be managed and are left alone.
bool IsLostToRestore(const ClusterState& state, int64_t job_id);

// Number of slots of one kind: all slots of the node, and its free ones.
int TotalSlots(const v1::Node& node, v1::DeviceKind kind);
int FreeSlots(const v1::Node& node, v1::DeviceKind kind);

// The attempt that holds a slot; {0, 0} for a free one.
AttemptKey HolderOf(const v1::SlotUse& use);

int64_t ToMs(const google::protobuf::Duration& duration);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_CLUSTER_STATE_H_

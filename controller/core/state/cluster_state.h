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

#include "controller/core/support/attempt_key.h"
#include "google/protobuf/duration.pb.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/node.pb.h"

namespace trainyard::controller {

// Attempts kept of each job, and how many of them keep their list of ranks.
inline constexpr int kAttemptsKept = 100;
inline constexpr int kAttemptsKeptWithRanks = 10;
// Layouts kept of those that were chosen for a job.
inline constexpr std::size_t kLayoutsKept = 16;

// Identity that a node id is bound to. Both are hexadecimal, and both empty before the first Hello.
struct NodeBinding {
  // Public key of the node.
  std::string key;
  // SHA-256 of the node's secret, from a worker of an older release.
  std::string secret_hash;
};

struct NodeEntry {
  // node.slot_uses says who holds each slot: the rank of a live attempt, the reservation of a
  // recovering job (its newest attempt has ended), or an ended attempt in `uncleared`.
  v1::Node node;
  // All facts of the node up to this one are in the log.
  uint64_t fact_sequence = 0;
  NodeBinding binding;
  // As in v1::Hello; empty: unknown.
  std::string place;

  // The rest follows from the above and from the jobs.
  // Jobs whose live attempt has ranks here.
  std::set<int64_t> live_jobs;
  // Attempts that ended while this node was lost: it has not confirmed that their ranks are gone,
  // so their slots stay taken until it does.
  std::set<AttemptKey> uncleared;
};

struct JobEntry {
  // job.attempts is oldest first; the last one is the live attempt unless its state is ENDED.
  // Its origins are in origin_list.
  v1::Job job;
  // As PackOrigins makes it.
  std::string origin_list;
  std::string request_id;
  bool stop_requested = false;
  bool kill_requested = false;
  std::deque<Timestamp> restart_times_ms;
  int restarts_without_progress = 0;
  // Of the newest attempt.
  std::set<int> started_ranks;
  std::map<int, v1::RankExited> exited_ranks;
  std::set<std::string> cleared_nodes;
  Timestamp first_failure_ms = 0;
  // Newest attempt and step on which the loss guard has acted: it acts on a step once.
  std::pair<int64_t, int64_t> guarded;
  // Newest attempt and step for which the watchdog has raised an alert.
  std::pair<int64_t, int64_t> watched;
  // Stragglers of the newest attempt that were reported.
  std::set<int> slow_ranks;
  // Newest choices for a job with auto_layout, oldest first.
  std::vector<v1::GrantedLayout> layouts;
};

// Memory of a node that was removed: a worker that comes back with its id goes on from here.
struct RemovedNode {
  uint64_t fact_sequence = 0;
  NodeBinding binding;
  Timestamp removed_ms = 0;
};

// A request id of a job that was archived of late.
struct ArchivedRequest {
  std::string request_id;
  int64_t job_id = 0;
  Timestamp archived_ms = 0;
};

inline constexpr std::array kDeviceKinds{v1::DEVICE_KIND_CPU, v1::DEVICE_KIND_GPU};

// Number of free slots -> ids of the nodes that have as many.
using NodesByFreeSlots = std::map<int, std::set<std::string>>;

struct ClusterState {
  int64_t next_job_id = 1;
  // The newest job that was submitted; 0 when there is none.
  int64_t newest_job_id = 0;
  // After a restore, jobs with a number below restored_jobs_below must use attempts from
  // restored_attempt on.
  int64_t restored_jobs_below = 0;
  int64_t restored_attempt = 0;
  // Numbers of jobs that may have been submitted after a backup that was restored: first number,
  // and one past the last.
  std::map<int64_t, int64_t> lost_jobs;
  // Newest losses of history, oldest first (lost_history.h).
  std::deque<v1::HistoryLoss> losses;
  // Jobs that have not ended, and ended ones until they are archived.
  std::map<int64_t, JobEntry> jobs;
  // Oldest first. A submission whose request id was not in the archive when its sender looked there
  // is decided later: the job may have been archived in between.
  std::deque<ArchivedRequest> archived_requests;
  std::map<std::string, NodeEntry> nodes;
  // By node id; at most kMaxRemovedNodes.
  std::map<std::string, RemovedNode> removed_nodes;
  // Slots of nodes that are ready or suspect, over time (capacity.h).
  v1::CapacityHistory capacity;
  // Clock of the times above (cluster_clock.h).
  v1::ClusterClock clock;

  // Indexes: they follow from the above. No tick scans ended jobs.
  // Jobs that wait for slots (queued, or recovering without a live attempt): the queue, in order.
  std::set<int64_t> pending_jobs;
  // Pending jobs that have run before: they keep their slots.
  std::set<int64_t> recovering_jobs;
  // Pending jobs with auto_layout.
  std::set<int64_t> pending_auto_jobs;
  // Jobs that users have paused or hold, without a live attempt: they are not pending.
  std::set<int64_t> paused_jobs;
  // Jobs with a live attempt.
  std::set<int64_t> live_jobs;
  std::set<std::string> lost_nodes;
  std::set<std::string> unhealthy_nodes;
  // Nodes with evidence against them (quarantine.h).
  std::set<std::string> blamed_nodes;
  // Slots of nodes that are ready or suspect.
  int64_t present_slots = 0;
  // Ended jobs by the time of their end.
  std::set<std::pair<Timestamp, int64_t>> ended_jobs;
  // Jobs of each name; the one live job of a name is always its newest.
  std::map<std::string, std::set<int64_t>> jobs_by_name;
  // Also of the jobs in archived_requests.
  std::map<std::string, int64_t> job_by_request_id;
  // Checkpoint directories (as CheckpointDirectory spells them) of jobs that have not ended.
  std::map<std::string, int64_t> job_by_checkpoint_dir;
  // Nodes that take ranks (ready, not cordoned) and have a free slot.
  std::map<v1::DeviceKind, NodesByFreeSlots> free_nodes;
  // Rendezvous addresses and ports of live attempts.
  std::set<std::pair<std::string, int>> rendezvous_in_use;
};

// Newest attempt, or nullptr when the job has had none.
const v1::Attempt* NewestAttempt(const JobEntry& entry);

// Newest attempt when it has not ended, else nullptr.
const v1::Attempt* LiveAttempt(const JobEntry& entry);

// The attempt of this number, or nullptr when the job does not have it (any more).
const v1::Attempt* FindAttempt(const v1::Job& job, int64_t number);

// The job's checkpoint directory as a normalised path.
std::string CheckpointDirectory(const v1::JobSpec& spec);

// The job's entry, or nullptr.
const JobEntry* FindEntry(const ClusterState& state, int64_t job_id);

// The job's entry, for an event about it: the process ends when the state does not have the job.
JobEntry& EntryOf(int64_t job_id, ClusterState& state);

// Newest job of the name in the state, or nullptr.
const JobEntry* NewestOfName(const ClusterState& state, const std::string& name);

// True for a number of a job that was submitted, is not in the state, and was not lost to a
// restore: the archive has it, or it was deleted.
bool IsArchived(const ClusterState& state, int64_t job_id);

// Removes a job that has ended, and its places in the indexes except the one by request id.
void RemoveEnded(int64_t job_id, ClusterState& state);

// True when the node is ready and not cordoned: new ranks may be placed on it, unless it is
// unhealthy (node_health.h).
bool TakesRanks(const v1::Node& node);

// Ids of the nodes of an attempt, by node rank.
std::vector<std::string> GangNodes(const v1::Attempt& attempt);

// The node's name, or its id when it is unknown.
std::string NodeName(const ClusterState& state, const std::string& node_id);

// Binding of the node id, also of a removed node; empty if it has none.
const NodeBinding& BindingOf(const ClusterState& state, const std::string& node_id);

// True for a job that was submitted after the backup that this state comes from. Its processes
// cannot be managed, and are left alone.
bool IsLostToRestore(const ClusterState& state, int64_t job_id);

// Slots of one kind: all that the node has, and those that are free.
int TotalSlots(const v1::Node& node, v1::DeviceKind kind);
int FreeSlots(const v1::Node& node, v1::DeviceKind kind);

// The attempt that holds a slot; {0, 0} for a free one.
AttemptKey HolderOf(const v1::SlotUse& use);

int64_t ToMs(const google::protobuf::Duration& duration);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_CLUSTER_STATE_H_

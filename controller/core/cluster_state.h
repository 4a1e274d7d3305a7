// All durable state of the controller. Apply is its only writer (apply.h).
#ifndef TRAINYARD_CONTROLLER_CORE_CLUSTER_STATE_H_
#define TRAINYARD_CONTROLLER_CORE_CLUSTER_STATE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>

#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/node.pb.h"

namespace trainyard::controller {

struct NodeEntry {
  v1::Node node;
  // All facts of the node up to this one are in the log.
  uint64_t fact_sequence = 0;
};

struct JobEntry {
  // job.attempts is oldest first; the last one is the live attempt unless its state is ENDED.
  v1::Job job;
  std::string request_id;
  bool stop_requested = false;
  bool kill_requested = false;
  std::deque<Timestamp> restart_times_ms;
  int restarts_without_progress = 0;
  // Of the newest attempt.
  std::set<int> started_ranks;
  std::map<int, v1::RankExited> exited_ranks;
  std::set<std::string> cleared_nodes;
};

struct ClusterState {
  int64_t next_job_id = 1;
  std::map<int64_t, JobEntry> jobs;
  std::map<std::string, NodeEntry> nodes;
};

// Newest attempt, or nullptr when the job has had none.
const v1::Attempt* NewestAttempt(const JobEntry& entry);

// Newest attempt when it has not ended, else nullptr.
const v1::Attempt* LiveAttempt(const JobEntry& entry);

// The state as the first record of a compacted log, and back.
v1::Snapshot ToSnapshot(const ClusterState& state, uint64_t last_sequence);
ClusterState FromSnapshot(const v1::Snapshot& snapshot);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_CLUSTER_STATE_H_

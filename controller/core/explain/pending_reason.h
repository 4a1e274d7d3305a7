// Why a job waits, rendered from the newest schedule.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_PENDING_REASON_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_PENDING_REASON_H_

#include <optional>
#include <string>
#include <vector>

#include "controller/core/schedule/cluster_view.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/state/job_queue.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Code of the reason why the job waits, without a message; NOT_PENDING if it does not wait. O(log
// jobs).
v1::PendingCode PendingCodeOf(const ClusterView& view, const JobEntry& entry);

// The main reason why the job waits; code NOT_PENDING if it does not wait.
v1::PendingReason WhyPending(const ClusterView& view, const JobEntry& entry);

// WhyPending for many jobs of one view. Computes the parts common to all jobs once.
class PendingExplainer {
 public:
  explicit PendingExplainer(const ClusterView& view) : view_(view) {}

  v1::PendingReason Why(const JobEntry& entry);

  // True if the head of the queue comes before this key, so that a job with this key waits.
  bool IsBehindHead(const QueueKey& key) const;
  // Number of jobs with a position in the queue before this key.
  int CountAhead(const QueueKey& key);
  // Reason of a job that waits for `ahead` jobs. The queue must have a head.
  v1::PendingReason WhyBehind(int ahead);

 private:
  // Position in the queue, counted from 1; 0 if the job has none.
  int QueuePosition(const JobEntry& entry);
  v1::PendingReason ReasonOf(const JobEntry& entry);
  const std::string& WhatHeadWaitsFor(const JobEntry& head);

  const ClusterView view_;
  // Pending jobs without a position in the queue, in order. Filled on first use.
  std::optional<std::vector<QueueKey>> without_position_;
  std::optional<std::string> head_waits_;
};

// Reason of `entry`, which need not be in the queue, while the head of the queue waits for slots.
v1::PendingReason WhyShort(const ClusterView& view, const JobEntry& entry, const QueueHead& head);

// Why a job with auto_layout has no layout for the slots that it asks for.
v1::PendingReason WhyNoLayout(const JobEntry& entry);

// Nodes of the live attempt that have not confirmed its end: "node-1, node-2".
std::string UnclearedNodes(const ClusterState& state, const JobEntry& entry);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_PENDING_REASON_H_

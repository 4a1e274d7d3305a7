// Explains why a job waits, based on the newest schedule.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_PENDING_REASON_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_PENDING_REASON_H_

#include <cstdint>
#include <map>
#include <string>

#include "controller/core/schedule/cluster_view.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns the code of the reason why the job waits, without computing a message. Returns
// NOT_PENDING if the job does not wait. For many jobs, use PendingExplainer.
v1::PendingCode PendingCodeOf(const ClusterView& view, const JobEntry& entry);

// Returns the main reason why the job waits, or a reason with the code NOT_PENDING.
v1::PendingReason WhyPending(const ClusterView& view, const JobEntry& entry);

// Computes WhyPending for many jobs of one view. The parts that all jobs share are computed only
// once.
class PendingExplainer {
 public:
  // `explains_one`: Why is called for one job only. Its position is then counted, which is faster
  // than putting all waiting jobs in order.
  explicit PendingExplainer(const ClusterView& view, bool explains_one = false)
      : view_(view), explains_one_(explains_one) {}

  v1::PendingReason Why(const JobEntry& entry);
  // Works like PendingCodeOf.
  v1::PendingCode CodeOf(const JobEntry& entry);

  // Returns true if the head of the job's queue precedes the job, which need not be in the queue.
  bool IsBehindHead(const v1::Job& job);
  // Returns the number of waiting jobs that request slots and precede the job, which need not be in
  // the queue.
  int CountAhead(const v1::Job& job);
  // Returns the reason for a job that waits behind `ahead` other jobs. The job's queue must have a
  // head.
  v1::PendingReason WhyBehind(const v1::Job& job, int ahead);
  // Returns the reason for a job for which its queue or its user holds too many slots.
  v1::PendingReason WhyQuota(const JobEntry& entry) const;

 private:
  // Returns the job that the newest schedule names as the head of this kind, if the job still
  // waits. Otherwise returns the first waiting job of this kind that requests slots and is not at a
  // limit, or nullptr if there is none.
  const JobEntry* HeadOf(v1::DeviceKind kind);
  // Returns the job's position in the queue, counted from 1. Returns 0 if the job has no position.
  int QueuePosition(const JobEntry& entry);
  // Numbers the waiting jobs of one kind that request slots.
  const std::map<int64_t, int>& Positions(v1::DeviceKind kind);
  // Returns true if the waiting job has a position in the queue.
  bool HasPosition(const JobEntry& entry);
  // `position`: QueuePosition of the job.
  v1::PendingReason ReasonOf(const JobEntry& entry, int position);
  const std::string& WhatHeadWaitsFor(const JobEntry& head);

  const ClusterView view_;
  const bool explains_one_;
  std::map<v1::DeviceKind, const JobEntry*> heads_;
  std::map<v1::DeviceKind, std::map<int64_t, int>> positions_;
  // By the number of the head.
  std::map<int64_t, std::string> head_waits_;
};

// Returns the reason why `entry` waits while the head of the queue lacks slots. `entry` need not be
// in the queue.
v1::PendingReason WhyShort(const ClusterView& view, const JobEntry& entry, const QueueHead& head);

// Returns true if the newest pass refused the job because of a limit that is still reached or
// closed.
bool IsAtLimit(const ClusterView& view, const v1::Job& job);

// Returns the reason why a job with auto_layout has no layout for the slots that it requests.
v1::PendingReason WhyNoLayout(const JobEntry& entry);

// Returns the names of the nodes that have not confirmed the end of the live attempt, for example
// "node-1, node-2".
std::string UnclearedNodes(const ClusterState& state, const JobEntry& entry);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_PENDING_REASON_H_

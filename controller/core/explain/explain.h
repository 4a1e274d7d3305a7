// Answers to users' questions, computed from the state: why a job waits, and where its ranks would
// run.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_EXPLAIN_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_EXPLAIN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/observations/observations.h"
#include "controller/core/observations/root_sightings.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// Code of the reason why the job waits, without a message. Cheap enough for every job of a long
// queue.
v1::PendingCode PendingCodeOf(const ClusterState& state, const JobEntry& entry, Timestamp now);

// The dominant reason why the job waits; code NOT_PENDING if it does not.
// `roots`: directories that nodes see at the checkpoint root; nullptr if unknown.
v1::PendingReason WhyPending(const ClusterState& state, const JobEntry& entry, Timestamp now,
                             const RootSightings* roots = nullptr);

// WhyPending for many jobs of one state, which must not change meanwhile. The reason of the queue's
// head, which all others wait for, is computed only once.
class PendingExplainer {
 public:
  PendingExplainer(const ClusterState& state, Timestamp now, const RootSightings* roots = nullptr);

  v1::PendingReason Why(const JobEntry& entry);

 private:
  // From 1; 0 if the job has no position in the queue.
  int QueuePosition(const JobEntry& entry);
  const std::string& WhatHeadWaitsFor(const JobEntry& head);
  v1::PendingReason ReasonOf(const JobEntry& entry);

  const ClusterState& state_;
  const Timestamp now_;
  const RootSightings* const roots_;
  // Jobs with a position in the queue, in order. Filled on first use.
  std::vector<int64_t> queue_;
  std::optional<std::string> head_waits_;
};

// Answer to `trainyard why`: the pending reason, the verdict, or the current activity, in one
// sentence. For a live gang the sentence ends with the limit of its state (gang_limit.h), given
// these options.
v1::WhyJobResponse ExplainJob(const ClusterState& state, const Observations& observations,
                              const JobEntry& entry, Timestamp now,
                              const CoreOptions& options = CoreOptions());

// Checks and placement of a submission, without creating a job. Errors of CheckSpec and Admit.
// `layout`: the choice for a job with auto_layout, else nullptr. `roots`: as for WhyPending.
absl::StatusOr<v1::PlanJobResponse> PreviewJob(const ClusterState& state, const v1::JobSpec& spec,
                                               Timestamp now,
                                               const v1::GrantedLayout* layout = nullptr,
                                               const RootSightings* roots = nullptr);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_EXPLAIN_H_

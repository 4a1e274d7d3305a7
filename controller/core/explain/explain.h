// Answers for users, computed from the state: why a job waits, where its ranks would go.
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

// Code of the reason why the job waits, without a message: cheap enough for every job of a long
// queue.
v1::PendingCode PendingCodeOf(const ClusterState& state, const JobEntry& entry, Timestamp now);

// The dominant reason that the job waits; code NOT_PENDING when it does not.
// `roots`: what nodes see of the checkpoint root; null when unknown.
v1::PendingReason WhyPending(const ClusterState& state, const JobEntry& entry, Timestamp now,
                             const RootSightings* roots = nullptr);

// WhyPending for many jobs of one state, which must not change meanwhile. The reason of the head of
// the queue, for which all of them wait, is worked out once.
class PendingExplainer {
 public:
  PendingExplainer(const ClusterState& state, Timestamp now, const RootSightings* roots = nullptr);

  v1::PendingReason Why(const JobEntry& entry);

 private:
  // From 1; 0 when the job has no place in the queue.
  int QueuePosition(const JobEntry& entry);
  const std::string& WhatHeadWaitsFor(const JobEntry& head);
  v1::PendingReason ReasonOf(const JobEntry& entry);

  const ClusterState& state_;
  const Timestamp now_;
  const RootSightings* const roots_;
  // Jobs that have a place in the queue, in order; filled when first needed.
  std::vector<int64_t> queue_;
  std::optional<std::string> head_waits_;
};

// The answer to `trainyard why`: pending reason, verdict, or the job's present work, in one
// sentence. A live gang's ends with the limit of its state (gang_limit.h), by these options.
v1::WhyJobResponse ExplainJob(const ClusterState& state, const Observations& observations,
                              const JobEntry& entry, Timestamp now,
                              const CoreOptions& options = CoreOptions());

// SubmitJob's checks and placement without a job. Same errors as Decide(SubmitJob). `layout`: the
// choice for a job with auto_layout, else null. `roots`: as for WhyPending.
absl::StatusOr<v1::PlanJobResponse> PreviewJob(const ClusterState& state, const v1::JobSpec& spec,
                                               Timestamp now,
                                               const v1::GrantedLayout* layout = nullptr,
                                               const RootSightings* roots = nullptr);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_EXPLAIN_H_

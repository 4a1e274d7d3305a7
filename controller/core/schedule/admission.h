// Admission of jobs to the queue.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_ADMISSION_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_ADMISSION_H_

#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/state/gang_request.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

// Maximum number of jobs that have not ended. Each takes a few KiB here and in every snapshot. Only
// a runaway script would create more.
inline constexpr std::size_t kMaxOpenJobs = 100'000;

// OK if the cluster accepts a job whose spec is complete and valid (submission.h).
// ALREADY_EXISTS: a live job has the same name or checkpoint directory.
// FAILED_PRECONDITION: the cluster is too small. The message names the largest shape that fits.
// RESOURCE_EXHAUSTED: too many jobs have not ended.
absl::Status Admit(const ClusterState& state, const v1::JobSpec& spec);

// ALREADY_EXISTS if a job that has not ended writes checkpoints to the same directory, even if the
// paths are spelled differently. Each job would delete and replace the other's checkpoints.
absl::Status CheckDirectoryIsFree(const ClusterState& state, const v1::JobSpec& spec);

// Shape with the most slots that fits the nodes that are not lost; with equally many slots, the one
// with fewer nodes. nullopt if no node has a slot of this kind.
std::optional<GangShape> LargestShape(const ClusterState& state, v1::DeviceKind kind);

// OK if the nodes that are not lost could run the gang with all their slots free.
absl::Status CheckShapeFits(const ClusterState& state, const GangShape& shape);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_ADMISSION_H_

// Admission of jobs to the queue.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_ADMISSION_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_ADMISSION_H_

#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/state/gang_shape.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

// Maximum number of jobs that have not ended. Each is a few KiB here and in every snapshot; a
// longer queue comes from a runaway script.
inline constexpr std::size_t kMaxOpenJobs = 100'000;

// OK when the cluster takes a job whose spec is complete and keeps every rule (submission.h).
// ALREADY_EXISTS: a live job has the name, or the checkpoint directory. FAILED_PRECONDITION: the
// cluster is too small; the message names the largest shape that fits. RESOURCE_EXHAUSTED: too many
// jobs have not ended.
absl::Status Admit(const ClusterState& state, const v1::JobSpec& spec);

// ALREADY_EXISTS when a job that has not ended writes its checkpoints to the same directory,
// however the two spell it: each would delete and replace the other's.
absl::Status CheckDirectoryIsFree(const ClusterState& state, const v1::JobSpec& spec);

// The shape with most slots that fits the nodes that are not lost; nothing when none has a slot of
// that kind. Of shapes with equally many slots, the one with fewer nodes.
std::optional<GangShape> LargestShape(const ClusterState& state, v1::DeviceKind kind);

// OK when the nodes that are not lost could hold the gang with every slot free.
absl::Status CheckShapeFits(const ClusterState& state, const GangShape& shape);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_ADMISSION_H_

// Admission of jobs to the queue.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_ADMISSION_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_ADMISSION_H_

#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

// The maximum number of jobs that have not ended. Each job takes a few KiB in the state and in
// every snapshot. Only a runaway script would create more jobs.
inline constexpr std::size_t kMaxOpenJobs = 100'000;

// Checks whether the cluster accepts a job. The job's spec must be complete and valid
// (submission.h). ALREADY_EXISTS: a live job has the same name or checkpoint directory.
// NOT_FOUND: no queue has the name. FAILED_PRECONDITION: the cluster is too small, or the limits of
// the queue. The message names the largest shape that fits.
// RESOURCE_EXHAUSTED: too many jobs have not ended.
absl::Status Admit(const ClusterState& state, const v1::JobSpec& spec);

// NOT_FOUND: no queue has this name. The message lists the queues.
absl::Status CheckQueueExists(const ClusterState& state, const std::string& name);

// Checks that the queue exists and that its limits are not smaller than the job. NOT_FOUND: no
// queue has this name. FAILED_PRECONDITION: the job would wait forever.
absl::Status CheckQueueHolds(const ClusterState& state, const std::string& name,
                             const v1::JobSpec& spec);

// ALREADY_EXISTS: a job that has not ended writes checkpoints to the same directory. Differently
// spelled paths of one directory are recognized. Two jobs with one directory would delete and
// replace each other's checkpoints.
absl::Status CheckDirectoryIsFree(const ClusterState& state, const v1::JobSpec& spec);

// Returns the shape with the most slots that one group of the nodes on which the job may run,
// without lost nodes, can hold. If several shapes have equally many slots, returns the shape with
// the fewest nodes. Returns nullopt if no node has a slot of this kind.
std::optional<GangShape> LargestShape(const ClusterState& state, v1::DeviceKind kind,
                                      const v1::JobSpec& spec = v1::JobSpec::default_instance());

// Returns OK if the gang fits the nodes on which the job may run. All slots count as free, except
// those of lost nodes.
absl::Status CheckGangFits(const ClusterState& state, const v1::JobSpec& spec,
                           const GangShape& shape);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_ADMISSION_H_

// The current state of each rank of an attempt, as shown in the rank map.
#ifndef TRAINYARD_CONTROLLER_API_JOBS_RANK_VIEW_H_
#define TRAINYARD_CONTROLLER_API_JOBS_RANK_VIEW_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "controller/core/schedule/cluster_view.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// Returns the ranks of an attempt. An `attempt_number` of 0 selects the newest attempt. NOT_FOUND:
// no such attempt. Call on the loop thread.
absl::StatusOr<v1::ListRanksResponse> RanksNow(const JobEntry& entry, int64_t attempt_number,
                                               const ClusterView& view);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_JOBS_RANK_VIEW_H_

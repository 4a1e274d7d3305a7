// Pages of jobs: filters, orders, cursors.
#ifndef TRAINYARD_CONTROLLER_API_JOB_LIST_H_
#define TRAINYARD_CONTROLLER_API_JOB_LIST_H_

#include "controller/api/api.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

namespace handlers {

void ListJobs(const Api& api, v1::ListJobsRequest request, Reply<v1::ListJobsResponse> reply);

}  // namespace handlers

// INVALID_ARGUMENT: cursor, limit or text out of bounds. Loop thread.
absl::StatusOr<v1::ListJobsResponse> JobPage(const v1::ListJobsRequest& request,
                                             const ClusterView& view);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_JOB_LIST_H_

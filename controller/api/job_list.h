// Pages of jobs: filters, orders, cursors; of the state and of the archive.
#ifndef TRAINYARD_CONTROLLER_API_JOB_LIST_H_
#define TRAINYARD_CONTROLLER_API_JOB_LIST_H_

#include "controller/api/api.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller::handlers {

// INVALID_ARGUMENT: cursor, limit or text out of bounds. Jobs of the state are listed on the loop
// thread; a reader thread merges in those of the archive. A job that is archived in between is
// listed once, but may be counted twice in the total.
void ListJobs(const Api& api, v1::ListJobsRequest request, Reply<v1::ListJobsResponse> reply);

}  // namespace trainyard::controller::handlers

#endif  // TRAINYARD_CONTROLLER_API_JOB_LIST_H_

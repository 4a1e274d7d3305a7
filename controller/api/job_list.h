// Pages of jobs, with filters, orders and cursors, from the state and the archive.
#ifndef TRAINYARD_CONTROLLER_API_JOB_LIST_H_
#define TRAINYARD_CONTROLLER_API_JOB_LIST_H_

#include "controller/api/api.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller::handlers {

// Lists jobs of the state on the loop thread; a reader thread then merges archived jobs. A job
// archived in between is listed once, but may be counted twice in the total. INVALID_ARGUMENT:
// cursor, limit or text out of bounds.
void ListJobs(const Api& api, const Principal& principal, v1::ListJobsRequest request,
              Reply<v1::ListJobsResponse> reply);

}  // namespace trainyard::controller::handlers

#endif  // TRAINYARD_CONTROLLER_API_JOB_LIST_H_

// Lists the jobs of the state and the archive in pages, with filters, sort orders and cursors.
#ifndef TRAINYARD_CONTROLLER_API_JOBS_JOB_LIST_H_
#define TRAINYARD_CONTROLLER_API_JOBS_JOB_LIST_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller::handlers {

// Lists the jobs of the state on the loop thread. A reader thread then merges the archived jobs. A
// job that is archived between the two steps is listed once, but may be counted twice in the total.
// INVALID_ARGUMENT: the cursor, the limit or a text is out of bounds.
void ListJobs(const Api& api, const Principal& principal, v1::ListJobsRequest request,
              Reply<v1::ListJobsResponse> reply);

}  // namespace trainyard::controller::handlers

#endif  // TRAINYARD_CONTROLLER_API_JOBS_JOB_LIST_H_

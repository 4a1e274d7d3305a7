// The request handler for the lineage of a job.
#ifndef TRAINYARD_CONTROLLER_API_JOBS_LINEAGE_H_
#define TRAINYARD_CONTROLLER_API_JOBS_LINEAGE_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller::handlers {

void GetLineage(const Api& api, const Principal& principal, v1::GetLineageRequest request,
                Reply<v1::GetLineageResponse> reply);

}  // namespace trainyard::controller::handlers

#endif  // TRAINYARD_CONTROLLER_API_JOBS_LINEAGE_H_

// The request handler for arrays.
#ifndef TRAINYARD_CONTROLLER_API_JOBS_ARRAY_HANDLERS_H_
#define TRAINYARD_CONTROLLER_API_JOBS_ARRAY_HANDLERS_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller::handlers {

void GetArray(const Api& api, const Principal& principal, v1::GetArrayRequest request,
              Reply<v1::GetArrayResponse> reply);

}  // namespace trainyard::controller::handlers

#endif  // TRAINYARD_CONTROLLER_API_JOBS_ARRAY_HANDLERS_H_

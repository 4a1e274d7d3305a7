// Deletion of jobs.
#ifndef TRAINYARD_CONTROLLER_API_DELETION_DELETION_H_
#define TRAINYARD_CONTROLLER_API_DELETION_DELETION_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

namespace handlers {

void DeleteJob(const Api& api, const Principal& principal, v1::DeleteJobRequest request,
               Reply<v1::DeleteJobResponse> reply);

}  // namespace handlers

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_DELETION_DELETION_H_

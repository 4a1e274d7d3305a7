// Reads the stored records of a job's experts. Error codes: metric_service.proto.
#ifndef TRAINYARD_CONTROLLER_API_RECORDS_EXPERTS_H_
#define TRAINYARD_CONTROLLER_API_RECORDS_EXPERTS_H_

#include <vector>

#include "controller/api/context/api.h"
#include "controller/core/observations/expert_watch.h"
#include "controller/store/metrics/metric_store.h"
#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::controller {

// Returns the stored record as a message with numeric loads.
v1::ExpertBalance ExpertBalanceOf(const StoredExperts& experts);

// Returns the problems of the newest attempt that has records. `records` are ascending by step.
std::vector<ExpertProblem> ExpertProblemsOf(const std::vector<StoredExperts>& records);

namespace handlers {

void GetExperts(const Api& api, const Principal& principal, const v1::GetExpertsRequest& request,
                Reply<v1::GetExpertsResponse> reply);

}  // namespace handlers

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_RECORDS_EXPERTS_H_

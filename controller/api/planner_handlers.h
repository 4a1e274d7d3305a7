// Request handlers for planning jobs on clusters that need not exist.
#ifndef TRAINYARD_CONTROLLER_API_PLANNER_HANDLERS_H_
#define TRAINYARD_CONTROLLER_API_PLANNER_HANDLERS_H_

#include "controller/api/api.h"
#include "trainyard/v1/planner.pb.h"

namespace trainyard::controller::handlers {

// Searches on a reader thread; may take some seconds. INVALID_ARGUMENT: neither or both of recipe
// and job file, a file that breaks a rule, an unknown device, impossible sizes. RESOURCE_EXHAUSTED:
// too many queries are waiting. If no layout fits, the answer says why.
void PlanLayout(const Api& api, const Principal& principal, v1::PlanLayoutRequest request,
                Reply<v1::PlanLayoutResponse> reply);

void GetPlanner(const Api& api, const Principal& principal, Reply<v1::GetPlannerResponse> reply);

}  // namespace trainyard::controller::handlers

#endif  // TRAINYARD_CONTROLLER_API_PLANNER_HANDLERS_H_

// Request handlers that plan jobs. The cluster need not exist.
#ifndef TRAINYARD_CONTROLLER_API_JOB_FILES_PLANNER_HANDLERS_H_
#define TRAINYARD_CONTROLLER_API_JOB_FILES_PLANNER_HANDLERS_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/planner.pb.h"

namespace trainyard::controller::handlers {

// Searches for a layout on a reader thread. The search may take several seconds. If no layout fits,
// the answer states the reason. INVALID_ARGUMENT: both or neither of recipe and job file are given,
// the file breaks a rule, the device is unknown, or the sizes are impossible. RESOURCE_EXHAUSTED:
// too many queries are waiting.
void PlanLayout(const Api& api, const Principal& principal, v1::PlanLayoutRequest request,
                Reply<v1::PlanLayoutResponse> reply);

// Returns the text of a recipe. INVALID_ARGUMENT: the name is a path or too long. NOT_FOUND: there
// is no such recipe.
void GetRecipe(const Api& api, const Principal& principal, v1::GetRecipeRequest request,
               Reply<v1::GetRecipeResponse> reply);

void GetPlanner(const Api& api, const Principal& principal, Reply<v1::GetPlannerResponse> reply);

}  // namespace trainyard::controller::handlers

#endif  // TRAINYARD_CONTROLLER_API_JOB_FILES_PLANNER_HANDLERS_H_

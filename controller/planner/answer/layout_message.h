// Plans and the planner's tables as messages, for documents, the API and the dashboard. Pure.
#ifndef TRAINYARD_CONTROLLER_PLANNER_ANSWER_LAYOUT_MESSAGE_H_
#define TRAINYARD_CONTROLLER_PLANNER_ANSWER_LAYOUT_MESSAGE_H_

#include "controller/planner/answer/layout_plan.h"
#include "trainyard/v1/planner.pb.h"

namespace trainyard::planner {

// `price`: dollars per GPU-hour; 0 means the known prices of the device.
v1::PlanLayoutResponse LayoutMessage(const LayoutPlan& plan, double price);

// Devices, networks and limits; the caller adds recipes and nodes.
v1::GetPlannerResponse PlannerTables();

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_ANSWER_LAYOUT_MESSAGE_H_

// Converts plans and the planner's tables to protobuf messages for documents, the API and the
// dashboard. Has no side effects.
#ifndef TRAINYARD_CONTROLLER_PLANNER_ANSWER_LAYOUT_MESSAGE_H_
#define TRAINYARD_CONTROLLER_PLANNER_ANSWER_LAYOUT_MESSAGE_H_

#include "controller/planner/answer/layout_plan.h"
#include "trainyard/v1/planner.pb.h"

namespace trainyard::planner {

// `price` is in dollars per GPU-hour. If it is 0, uses the known prices of the device.
v1::PlanLayoutResponse LayoutMessage(const LayoutPlan& plan, double price);

// Returns devices, networks and limits. The caller adds recipes and nodes.
v1::GetPlannerResponse PlannerTables();

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_ANSWER_LAYOUT_MESSAGE_H_

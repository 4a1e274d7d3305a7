// Converts distances between ranks to protobuf messages. Has no side effects.
#ifndef TRAINYARD_CONTROLLER_PLANNER_ANSWER_DISTANCE_MESSAGE_H_
#define TRAINYARD_CONTROLLER_PLANNER_ANSWER_DISTANCE_MESSAGE_H_

#include "controller/planner/axis_distance.h"
#include "trainyard/v1/planner.pb.h"

namespace trainyard::planner {

v1::AxisDistance DistanceMessage(const AxisDistance& distance);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_ANSWER_DISTANCE_MESSAGE_H_

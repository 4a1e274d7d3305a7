// Shifts all times in the state when the wall clock is set, so that the differences between times
// do not change.
#ifndef TRAINYARD_CONTROLLER_CORE_APPLY_TIME_SHIFT_H_
#define TRAINYARD_CONTROLLER_CORE_APPLY_TIME_SHIFT_H_

#include <cstdint>

#include "controller/core/state/cluster_state.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace trainyard::controller {

// The meaning of a field that contains milliseconds.
enum class TimeField {
  kNone,      // Unknown: a new field that is missing in time_shift.cpp.
  kMoment,    // A time by the controller's clock. It is shifted.
  kForeign,   // A time by another clock, or shifted elsewhere. It is not shifted here.
  kDuration,  // Not shifted.
};

// Returns the meaning of the field according to the table in time_shift.cpp.
TimeField TimeFieldOf(const google::protobuf::FieldDescriptor& field);

// Shifts every kMoment field of the message and its nested messages by `step_ms`. A value of 0
// means "not set" and is not changed.
void ShiftTimes(int64_t step_ms, google::protobuf::Message& message);

// Applies the event: shifts every time in the state.
void TakeClockSet(const v1::ClockSet& set, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_APPLY_TIME_SHIFT_H_

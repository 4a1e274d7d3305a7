// Shifts the times of the state when the wall clock is set, so that their differences stay the
// same.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_TIME_SHIFT_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_TIME_SHIFT_H_

#include <cstdint>

#include "controller/core/state/cluster_state.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace trainyard::controller {

// Meaning of a field that counts milliseconds.
enum class TimeField {
  kNone,      // Unknown: a new field that is missing in time_shift.cpp.
  kMoment,    // A time by the controller's clock: shifted.
  kForeign,   // A time by another clock, or one shifted elsewhere: not shifted here.
  kDuration,  // Not shifted.
};

// Meaning of the field according to the table in time_shift.cpp.
TimeField TimeFieldOf(const google::protobuf::FieldDescriptor& field);

// Shifts every kMoment field of the message, including nested messages, by `step_ms`. 0 means "not
// set" and stays 0.
void ShiftTimes(int64_t step_ms, google::protobuf::Message& message);

// Applies the event: shifts every time in the state.
void TakeClockSet(const v1::ClockSet& set, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_TIME_SHIFT_H_

// Times of the state that move when the wall clock is set, so that their differences stay.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_TIME_SHIFT_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_TIME_SHIFT_H_

#include <cstdint>

#include "controller/core/state/cluster_state.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace trainyard::controller {

// Meaning of a field with a number of milliseconds.
enum class TimeField {
  kNone,      // Unknown: a new field that time_shift.cpp does not list yet.
  kMoment,    // A moment by the controller's clock: moves.
  kForeign,   // A moment by another clock, or one that is shifted elsewhere: stays.
  kDuration,  // Stays.
};

// As time_shift.cpp lists it.
TimeField TimeFieldOf(const google::protobuf::FieldDescriptor& field);

// Moves every moment of the message, also within its messages, by `step_ms`. 0 means "not set" and
// stays.
void ShiftTimes(int64_t step_ms, google::protobuf::Message& message);

// Applies the event: moves every moment of the state.
void TakeClockSet(const v1::ClockSet& set, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_TIME_SHIFT_H_

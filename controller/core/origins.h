// Where the values of a job came from, as the state keeps it: most are defaults, which are numbers.
#ifndef TRAINYARD_CONTROLLER_CORE_ORIGINS_H_
#define TRAINYARD_CONTROLLER_CORE_ORIGINS_H_

#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

using OriginList = google::protobuf::RepeatedPtrField<v1::Origin>;
using DefaultFields = google::protobuf::RepeatedField<uint32_t>;

// Replaces each origin "default" by the number of its field, ascending. One whose key has no number
// stays.
void PackDefaults(OriginList& origins, DefaultFields& defaults);

// The reverse: all origins, sorted by key.
void UnpackDefaults(const DefaultFields& defaults, OriginList& origins);

// The same in the event that submitted a job; nothing in others. For those who read the log.
void UnpackDefaults(v1::Event& event);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_ORIGINS_H_

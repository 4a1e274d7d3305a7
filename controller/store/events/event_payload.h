// Checksums of stored events and snapshots, the same in every database.
#ifndef TRAINYARD_CONTROLLER_STORE_EVENTS_EVENT_PAYLOAD_H_
#define TRAINYARD_CONTROLLER_STORE_EVENTS_EVENT_PAYLOAD_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Returns the checksum of the event `sequence`, or of a snapshot up to that event.
int64_t PayloadChecksum(std::string_view payload, int64_t sequence);

// Returns nullopt if the payload does not match its checksum or its sequence number.
std::optional<v1::Event> OpenEvent(std::string_view payload, int64_t sequence, int64_t checksum);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_EVENTS_EVENT_PAYLOAD_H_

#include "controller/store/events/event_payload.h"

#include "controller/store/support/checksum.h"

namespace trainyard::controller {

int64_t PayloadChecksum(std::string_view payload, int64_t sequence) {
  return static_cast<int64_t>(Checksum(payload, static_cast<uint64_t>(sequence)));
}

std::optional<v1::Event> OpenEvent(std::string_view payload, int64_t sequence, int64_t checksum) {
  v1::Event event;
  if (PayloadChecksum(payload, sequence) != checksum ||
      !event.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    return std::nullopt;
  }
  return event;
}

}  // namespace trainyard::controller

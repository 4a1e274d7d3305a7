// Identifies one append-only file of one rank.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_STREAM_KEY_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_STREAM_KEY_H_

#include <compare>
#include <cstdint>

#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

struct StreamKey {
  int64_t job_id = 0;
  int64_t attempt = 0;
  int rank = 0;
  v1::StreamKind kind = v1::STREAM_KIND_UNSPECIFIED;

  auto operator<=>(const StreamKey&) const = default;
};

inline StreamKey ToStreamKey(const v1::StreamId& id) {
  return {id.job_id(), id.attempt(), id.rank(), id.kind()};
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_STREAM_KEY_H_

// Position up to which the controller has stored a stream.
#ifndef TRAINYARD_WORKER_CORE_STREAM_POSITION_H_
#define TRAINYARD_WORKER_CORE_STREAM_POSITION_H_

#include <cstdint>

#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::worker {

// The controller has stored the bytes of stream `id` before offset `acknowledged`.
struct StreamPosition {
  v1::StreamId id;
  int64_t acknowledged = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_STREAM_POSITION_H_
